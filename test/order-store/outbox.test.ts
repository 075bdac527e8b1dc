import { expect, test } from "vitest";
import { expectSound } from "./picture.ts";
import { openShop, wordsOf } from "./shop.ts";
import { Story } from "./story.ts";
import { closedGate } from "./traps.ts";

interface OutboxRow extends Record<string, unknown> {
  readonly id: number;
  readonly version: number;
  readonly payload: Record<string, unknown>;
}

test("one row per applied event with its version; none for duplicates, rejections, deferrals, repeats or failures", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  const events = [
    story.placed(),
    story.captured("c1", "a1", 100),
    story.authorized("a1"),
    story.authorized("a1"),
    story.captured("c2", "a1", 5_000),
    story.sold("c3", 1.5),
    story.event("payment.teleported", {}),
  ];
  await shop.apply([...events, ...events]);
  await shop.apply(events);
  const rows = await shop.sql<OutboxRow>("select id, lcid, version, payload from outbox order by version");
  expect(rows.map(({ version }) => version)).toEqual([1, 2, 3]);
  // Ids rise with the versions of an order, so a relay that reads by id keeps an order's notices in order.
  expect(rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).toSorted((a, b) => a - b));
  const history = await shop.store.readHistory("O1");
  for (const { version, payload } of rows) {
    const event = history.find((entry) => entry.version === version);
    expect(JSON.stringify(payload)).toContain(event!.id);
    expect(JSON.stringify(payload)).toContain(event!.type);
  }
  await expectSound(shop);
});

test("a held event's row comes with the version it got, after that of the event that released it", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([story.shipped("s1"), story.captured("c1", "a1")]);
  await shop.apply([story.placed(), story.reserved("r1"), story.authorized("a1")]);
  const rows = await shop.sql<OutboxRow>("select version, payload from outbox order by id");
  expect(rows.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5]);
  await expectSound(shop);
});

test("the table itself refuses a version twice, and a rolled back transaction leaves no row", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([story.placed()]);
  await expect(
    shop.sql("insert into outbox (lcid, version, payload) values ('O1', 1, '{}')"),
  ).rejects.toMatchObject({ code: "23505" });
  await shop.apply([story.sold("c1")], { deadlineMs: 0 });
  expect(await shop.sql("select version from outbox")).toEqual([{ version: 1 }]);
});

test("downstream sees only what is committed", async () => {
  const shop = await openShop({ lockTimeoutMs: 20_000, statementTimeoutMs: 20_000 });
  const story = new Story("O1");
  await shop.apply([story.placed()]);
  const gate = await closedGate(shop, { table: "outbox", on: "commit of insert" });
  const applying = shop.apply([story.sold("c1")]);
  await gate.occupied();
  expect(await shop.sql("select version from outbox")).toEqual([{ version: 1 }]);
  await gate.open();
  expect(wordsOf(await applying)).toEqual(["applied 2"]);
  expect(await shop.sql("select version from outbox order by version")).toHaveLength(2);
});

test("summary tells how many rows no relay has published, and how old the oldest is", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  expect(await shop.store.summary()).toMatchObject({ outboxUnpublished: 0, outboxLagMs: 0 });
  await shop.apply([story.placed(), story.sold("c1")]);
  await shop.sql("update outbox set created_at = now() - interval '1 minute' where version = 1");
  const lagging = await shop.store.summary();
  expect(lagging.outboxUnpublished).toBe(2);
  expect(lagging.outboxLagMs).toBeGreaterThanOrEqual(60_000);
  await shop.sql("update outbox set published_at = now()");
  expect(await shop.store.summary()).toMatchObject({ outboxUnpublished: 0, outboxLagMs: 0 });
});

test("a published version is not written again by a later transition or a repeat", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  const events = [story.placed(), story.sold("c1")];
  await shop.apply(events);
  await shop.sql("update outbox set published_at = now()");
  await shop.apply([...events, story.reserved("r1")]);
  expect(
    await shop.sql("select version, published_at is null as fresh from outbox order by version"),
  ).toEqual([
    { version: 1, fresh: false },
    { version: 2, fresh: false },
    { version: 3, fresh: true },
  ]);
  await expectSound(shop);
});
