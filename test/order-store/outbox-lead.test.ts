import { openOutbox, type Outbox, type OutboxLead } from "@junban/order-store";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { openShop, type Shop } from "./shop.ts";
import { Story } from "./story.ts";

function openOutboxOf(shop: Shop): Outbox {
  const outbox = openOutbox({ databaseUrl: shop.url, worker: "test" });
  onTestFinished(async () => outbox.close());
  return outbox;
}

async function leadOf(outbox: Outbox): Promise<OutboxLead> {
  const lead = await outbox.lead();
  if (lead === null) throw new Error("another one leads");
  return lead;
}

describe("the lead of the outbox", () => {
  test("is one process's at a time, and another's when it is left or its connection ends", async () => {
    const shop = await openShop();
    const [one, other] = [openOutboxOf(shop), openOutboxOf(shop)];
    const lead = await leadOf(one);
    expect(await other.lead()).toBeNull();
    await lead.leave();
    expect(await other.lead()).not.toBeNull();
    expect(await one.lead()).toBeNull();
    await other.close();
    await eventually(async () => (await one.lead()) !== null);
  });

  test("is lost with the connection: every call says so from then on", async () => {
    const shop = await openShop();
    const outbox = openOutboxOf(shop);
    const lead = await leadOf(outbox);
    await shop.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'junban relay %'",
    );
    await expect(lead.next({ passedOn: [], limit: 1 })).rejects.toThrow();
    await expect(lead.next({ passedOn: [], limit: 1 })).rejects.toMatchObject({ code: "LEAD_LOST" });
    expect(await outbox.lead()).not.toBeNull();
  });

  test("does not stay with a process that froze: the server ends a session that asks nothing", async () => {
    const shop = await openShop();
    await leadOf(openOutboxOf(shop));
    const settings = await shop.sql<{ setting: string }>(
      "select setting from pg_settings where name = 'idle_session_timeout'",
    );
    expect(settings).toHaveLength(1);
    const other = openOutboxOf(shop);
    await eventually(async () => (await other.lead()) !== null, { withinMs: 20_000 });
  });
});

describe("whoever leads the outbox", () => {
  test("reads what is left, oldest first, and deletes what was passed on in the same trip", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    await shop.apply([story.placed(), story.authorized("a1"), story.captured("c1", "a1")]);
    const lead = await leadOf(openOutboxOf(shop));
    const first = await lead.next({ passedOn: [], limit: 2 });
    expect(first.map(({ lcid, version }) => `${lcid} ${version}`)).toEqual(["O1 1", "O1 2"]);
    expect(first[0]?.payload).toMatchObject({ lcid: "O1", version: 1 });
    const rest = await lead.next({ passedOn: first.map(({ id }) => id), limit: 2 });
    expect(rest.map(({ version }) => version)).toEqual([3]);
    expect(await shop.sql("select version from outbox")).toEqual([{ version: 3 }]);
  });

  test("hears of a commit at once, once for many, and looks by itself in between", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const lead = await leadOf(openOutboxOf(shop));
    const { signal } = new AbortController();
    const startedMs = performance.now();
    const heard = lead.rung({ withinMs: 60_000, signal });
    await shop.apply([story.placed()]);
    await heard;
    expect(performance.now() - startedMs).toBeLessThan(30_000);

    for (let ring = 0; ring < 5; ring += 1) await shop.sql("select pg_notify('junban_outbox', '')");
    // The server hands over what was notified before it answers, so all five have come once it has.
    await lead.next({ passedOn: [], limit: 1 });
    await lead.rung({ withinMs: 60_000, signal });
    const ended = new AbortController();
    let isOver = false;
    const again = lead.rung({ withinMs: 60_000, signal: ended.signal }).then(() => {
      isOver = true;
    });
    await lead.next({ passedOn: [], limit: 1 });
    expect(isOver).toBe(false);
    ended.abort();
    await again;

    const askedMs = performance.now();
    await lead.rung({ withinMs: 50, signal });
    // A timer may fire a fraction of a millisecond early.
    expect(performance.now() - askedMs).toBeGreaterThan(45);
  });

  test("parks news with a reason, out of the way of the others", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    await shop.apply([story.placed(), story.authorized("a1")]);
    const lead = await leadOf(openOutboxOf(shop));
    const [first] = await lead.next({ passedOn: [], limit: 1 });
    await lead.park({ id: first?.id ?? 0, reason: "no one wants it" });
    expect((await lead.next({ passedOn: [], limit: 5 })).map(({ version }) => version)).toEqual([2]);
    expect(await shop.sql("select lcid, version, reason from outbox_parked")).toEqual([
      { lcid: "O1", version: 1, reason: "no one wants it" },
    ]);
    expect(await shop.store.summary()).toMatchObject({ outboxUnpublished: 1, outboxParked: 1 });
  });
});
