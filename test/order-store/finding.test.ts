import { decide } from "@junban/orders";
import { expect, test } from "vitest";
import { openShop } from "./shop.ts";
import { Story } from "./story.ts";

test("an event is found by its id alone, from whichever source it came, and from each that has one of that id", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([
    story.placed(),
    story.authorized("a1", 10, { source: "/payments", id: "evt-1" }),
    story.authorized("a2", 10, { source: "/bank", id: "evt-1" }),
    story.authorized("a3", 10, { source: "/bank", id: "evt-2" }),
  ]);
  const found = async (id: string, limit = 10) =>
    (await shop.store.findEvents({ id, limit })).map(({ source }) => source).toSorted();
  expect(await found("evt-1")).toEqual(["/bank", "/payments"]);
  expect(await found("evt-2")).toEqual(["/bank"]);
  expect(await found("evt-9")).toEqual([]);
  expect(await found("evt-1", 1)).toHaveLength(1);
});

test("finding an id reads the key of each source and not the whole table", async () => {
  const shop = await openShop();
  await shop.sql(`insert into orders (lcid) values ('O1')`);
  await shop.sql(
    `insert into order_events (source, event_id, lcid, type, outcome, reason, arrival, body_digest, published_at, worker)
     select '/s' || number % 5, 'e-' || number, 'O1', 'x', 'rejected', 'X', number, 'd', now(), 'w'
     from generate_series(1, 20000) as number`,
  );
  await shop.sql("analyze order_events");
  const before = await scanned();
  expect(await shop.store.findEvents({ id: "e-7", limit: 10 })).toHaveLength(1);
  expect(await scanned()).toBe(before);

  async function scanned(): Promise<number> {
    await shop.sql("select pg_stat_force_next_flush()");
    const [row] = await shop.sql<{ seq_scan: number }>(
      "select seq_scan from pg_stat_user_tables where relname = 'order_events'",
    );
    return row?.seq_scan ?? -1;
  }
});

test("halted orders are listed with the event they stand behind and how much waits, a page at a time", async () => {
  const shop = await openShop({
    decide: (view, event) => {
      if (JSON.stringify(event.data).includes("cursed")) throw new TypeError("a fault");
      return decide(view, event);
    },
  });
  for (const lcid of ["O1", "O2", "O3"]) {
    const story = new Story(lcid);
    const isCursed = lcid !== "O2";
    await shop.apply([
      story.placed(),
      story.authorized("a1"),
      story.captured(isCursed ? "cursed" : "c1", "a1", 10),
    ]);
    await shop.apply([story.captured("c2", "a1", 10)]);
  }
  const halted = await shop.store.listHalted({ limit: 10 });
  expect(halted.map(({ lcid, held }) => [lcid, held])).toEqual([
    ["O1", 1],
    ["O3", 1],
  ]);
  expect(halted[0]?.failure).toMatchObject({
    type: "payment.captured",
    reason: expect.any(String) as string,
  });
  expect((await shop.store.listHalted({ after: "O1", limit: 10 })).map(({ lcid }) => lcid)).toEqual(["O3"]);
  const failed = await shop.store.listDead({ lcid: "O3", outcome: "failed", limit: 10 });
  expect(failed.map(({ lcid }) => lcid)).toEqual(["O3"]);
});

test("the pulse counts what was decided and applied since an earlier one, and how soon the latest were", async () => {
  const shop = await openShop();
  expect(await shop.store.pulse()).toEqual({ newest: 0, since: null, latest: null });
  const story = new Story("O1");
  await shop.apply([story.placed()]);
  const first = await shop.store.pulse({ after: 0 });
  expect(first.since).toEqual({ decided: 1, applied: 1 });
  await shop.apply([story.authorized("a1"), story.captured("c1", "unknown", 10)]);
  const { since, latest } = await shop.store.pulse({ after: first.newest });
  expect([since, latest?.events]).toEqual([{ decided: 2, applied: 1 }, 3]);
  expect(latest?.p99Ms).toBeGreaterThanOrEqual(latest?.p50Ms ?? -1);
});

test("a transaction that is tried and undone takes numbers, and the pulse counts none of them", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([story.placed()]);
  const before = await shop.store.pulse();
  await shop.sql("alter table outbox add constraint nothing_told check (version < 2) not valid");
  await shop.sql("alter table order_events add constraint no_failure check (outcome <> 'failed')");
  for (let attempt = 1; attempt <= 3; attempt += 1) await shop.apply([story.authorized("a1")]);
  const after = await shop.store.pulse({ after: before.newest });
  expect(after.newest).toBeGreaterThan(before.newest ?? 0);
  expect(after.since).toEqual({ decided: 0, applied: 0 });
});

test("the pulse reads the newest rows and not the whole table", async () => {
  const shop = await openShop();
  await shop.sql(`insert into orders (lcid) values ('O1')`);
  await shop.sql(
    `insert into order_events (source, event_id, lcid, type, outcome, reason, arrival, body_digest, published_at, worker)
     select '/s', 'e-' || number, 'O1', 'x', 'rejected', 'X', number, 'd', now(), 'w'
     from generate_series(1, 20000) as number`,
  );
  await shop.sql("vacuum analyze order_events");
  await shop.store.pulse();
  const before = await scanned();
  expect((await shop.store.pulse({ after: 19_990 })).since).toEqual({ decided: 10, applied: 0 });
  expect(await scanned()).toBe(before);

  async function scanned(): Promise<number> {
    await shop.sql("select pg_stat_force_next_flush()");
    const [row] = await shop.sql<{ seq_scan: number }>(
      "select seq_scan from pg_stat_user_tables where relname = 'order_events'",
    );
    return row?.seq_scan ?? -1;
  }
});

test("without its index the pulse knows no delay and no count, and reads no table for one", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([story.placed(), story.authorized("a1")]);
  await shop.sql("drop index order_events_by_seq");
  expect(await shop.store.pulse({ after: 0 })).toEqual({ newest: 2, since: null, latest: null });
});

test("a role that may work with rows and no more is told no counts and no error", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([story.placed()]);
  const role = `clerk_${process.pid}`;
  await shop.sql(`create role ${role} login password 'clerk'`);
  await shop.sql(`grant select on all tables in schema public to ${role}`);
  const url = new URL(shop.url);
  url.username = role;
  url.password = "clerk";
  const clerk = shop.openStore({ databaseUrl: url.href });
  expect(await clerk.pulse({ after: 0 })).toEqual({ newest: null, since: null, latest: null });
  await clerk.close();
  await shop.sql(`drop owned by ${role}`);
  await shop.sql(`drop role ${role}`);
});

test("reasons of dead letters, open alerts, and types that nobody knows are told from one another", async () => {
  const shop = await openShop();
  expect([await shop.store.deadReasons(), await shop.store.readUnknown()]).toEqual([[], null]);
  const story = new Story("O1");
  const over = story.captured("c1", "a1", 5_000);
  const foreign = story.event("order.place", {});
  const again = story.event("order.place", {});
  await shop.apply([
    story.placed(),
    story.authorized("a1"),
    over,
    foreign,
    again,
    story.event("payment.teleported", {}),
  ]);
  const dropped = story.captured("c2", "a9", 10);
  await shop.apply([dropped]);
  await shop.store.drop({ ...dropped, reason: "never came" });
  expect(await shop.store.deadReasons()).toEqual(["DROPPED", "OVER_CAPTURE"]);
  const alerting = await shop.store.listDead({ outcome: "alerting", limit: 10 });
  expect(alerting.map(({ id }) => id)).toEqual([over.id]);
  expect(await shop.store.readUnknown()).toMatchObject({
    events: 3,
    types: ["order.place", "payment.teleported"],
  });
});
