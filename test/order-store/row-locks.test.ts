import type { Client } from "pg";
import { describe, expect, test } from "vitest";
import { expectSound } from "./picture.ts";
import { applyTo, openShop, wordsOf, type Shop } from "./shop.ts";
import { Story } from "./story.ts";
import { closedGate, eventuallyBlocked, raiseAt } from "./traps.ts";

/** Limits far beyond what a test holds a transaction open for. */
const PATIENT = { lockTimeoutMs: 20_000, statementTimeoutMs: 20_000, idleTransactionTimeoutMs: 20_000 };
const LOCK_NOT_AVAILABLE = "55P03";

const CHILDREN: readonly (readonly [string, string])[] = [
  [
    "order_lines",
    `insert into order_lines (lcid, line_id, sku, added_quantity, quantity, peak, unit_amount_minor)
     values ('O1', 'child', 'sku', 1, 1, 1, 1)`,
  ],
  [
    "order_events",
    `insert into order_events (source, event_id, lcid, type, outcome, reason, arrival, body_digest, published_at, worker)
     values ('/child', 'child', 'O1', 'x', 'rejected', 'x', 999, 'x', now(), 'child')`,
  ],
];

/** Tries one statement in a transaction of its own that leaves nothing; answers the SQLSTATE, or null when it went through. */
async function tryOut(session: Client, statement: string): Promise<string | null> {
  await session.query("begin");
  try {
    await session.query(statement);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await session.query("rollback");
  }
}

/** Which of the four row locks the order's row would give at once: this names the lock that another session holds on it. */
async function freeLocks(session: Client): Promise<string[]> {
  const free: string[] = [];
  for (const lock of ["key share", "share", "no key update", "update"]) {
    const state = await tryOut(session, `select from orders where lcid = 'O1' for ${lock} nowait`);
    if (state === null) free.push(lock);
    else expect(state).toBe(LOCK_NOT_AVAILABLE);
  }
  return free;
}

async function openWithOrder(): Promise<{ shop: Shop; story: Story }> {
  const shop = await openShop(PATIENT);
  const story = new Story("O1");
  await shop.apply([story.placed(), story.authorized("a1", 100_000)]);
  return { shop, story };
}

describe("the order row is locked FOR NO KEY UPDATE", () => {
  test("the lock is taken before anything else of the order is read, in exactly that strength", async () => {
    const { shop, story } = await openWithOrder();
    const onlooker = await shop.session({ lockTimeoutMs: 200 });
    expect(await freeLocks(onlooker)).toEqual(["key share", "share", "no key update", "update"]);
    // Nobody gets at the refs, so the transaction stands right behind its lock and has written nothing.
    const admin = await shop.session();
    await admin.query("begin; lock table order_refs in access exclusive mode");
    const applying = shop.apply([story.captured("c1", "a1", 100)]);
    await eventuallyBlocked(shop);
    expect(await freeLocks(onlooker)).toEqual(["key share"]);
    await admin.query("rollback");
    expect(wordsOf(await applying)).toEqual(["applied 3"]);
  });

  test("it still has that strength once everything is written", async () => {
    const { shop, story } = await openWithOrder();
    const onlooker = await shop.session({ lockTimeoutMs: 200 });
    const gate = await closedGate(shop, { table: "outbox", on: "commit of insert" });
    const applying = shop.apply([story.captured("c1", "a1", 100)]);
    await gate.occupied();
    expect(await freeLocks(onlooker)).toEqual(["key share"]);
    await gate.open();
    expect(wordsOf(await applying)).toEqual(["applied 3"]);
    expect(await freeLocks(onlooker)).toHaveLength(4);
  });

  test.each(CHILDREN)(
    "a row inserted into %s does not wait for a transition under way",
    async (_table, insert) => {
      const { shop, story } = await openWithOrder();
      const gate = await closedGate(shop, { table: "outbox", on: "insert" });
      const applying = shop.apply([story.captured("c1", "a1", 100)]);
      await gate.occupied();
      const writer = await shop.session({ lockTimeoutMs: 200 });
      expect(await tryOut(writer, insert)).toBeNull();
      await gate.open();
      expect(wordsOf(await applying)).toEqual(["applied 3"]);
    },
  );

  test.each(CHILDREN)(
    "negative control: under FOR UPDATE the same row in %s fails",
    async (_table, insert) => {
      const { shop } = await openWithOrder();
      const holder = await shop.session();
      const writer = await shop.session({ lockTimeoutMs: 200 });
      for (const [lock, expected] of [
        ["no key update", null],
        ["update", LOCK_NOT_AVAILABLE],
      ]) {
        await holder.query(`begin; select from orders where lcid = 'O1' for ${lock}`);
        expect(await tryOut(writer, insert)).toBe(expected);
        await holder.query("rollback");
      }
    },
  );

  test("a transition does not wait for a row that references its order and is not committed yet", async () => {
    const { shop, story } = await openWithOrder();
    const writer = await shop.session();
    await writer.query("begin");
    for (const [, insert] of CHILDREN) await writer.query(insert);
    const hasty = shop.openStore({ ...PATIENT, lockTimeoutMs: 200 });
    expect(wordsOf(await applyTo(hasty, [story.captured("c1", "a1", 100)]))).toEqual(["applied 3"]);
    await writer.query("rollback");
    await expectSound(shop);
  });
});

describe("two transitions of one order serialise", () => {
  test("the second gives up at its lock_timeout while the first is open, and then works", async () => {
    const { shop, story } = await openWithOrder();
    const gate = await closedGate(shop, { table: "outbox", on: "insert", times: 1 });
    const first = shop.apply([story.captured("c1", "a1", 100)]);
    await gate.occupied();
    const hasty = shop.openStore({ ...PATIENT, lockTimeoutMs: 150 });
    const second = [story.captured("c2", "a1", 100)];
    const refused = await applyTo(hasty, second);
    expect(refused).toMatchObject({
      settled: [],
      trouble: { kind: "passing", error: { code: LOCK_NOT_AVAILABLE } },
    });
    await gate.open();
    expect(wordsOf(await first)).toEqual(["applied 3"]);
    expect(wordsOf(await applyTo(hasty, second))).toEqual(["applied 4"]);
    await expectSound(shop);
  });

  test("the second waits and then sees what the first wrote, so a stale total never passes", async () => {
    const { shop, story } = await openWithOrder();
    const gate = await closedGate(shop, { table: "outbox", on: "insert", times: 1 });
    const first = shop.apply([story.captured("c1", "a1", 60_000)]);
    await gate.occupied();
    const second = shop.apply([story.captured("c2", "a1", 60_000)]);
    await eventuallyBlocked(shop, 2);
    await gate.open();
    expect(wordsOf(await first)).toEqual(["applied 3"]);
    expect(wordsOf(await second)).toEqual(["rejected OVER_CAPTURE"]);
    await expectSound(shop);
  });

  test("the second waits and then sees the first one's inbox rows, so the same event is applied once", async () => {
    const { shop, story } = await openWithOrder();
    const gate = await closedGate(shop, { table: "outbox", on: "insert", times: 1 });
    const attempts = await raiseAt(shop, { table: "order_events", on: "insert", times: 0, code: "XX000" });
    const event = story.captured("c1", "a1", 100);
    const first = shop.apply([event]);
    await gate.occupied();
    const second = shop.apply([event]);
    await eventuallyBlocked(shop, 2);
    await gate.open();
    expect(wordsOf(await first)).toEqual(["applied 3"]);
    expect(wordsOf(await second)).toEqual(["again applied 3"]);
    // It knew before it tried: the inbox was read behind the lock, not in front of it.
    expect(await attempts.steps()).toBe(1);
    await expectSound(shop);
  });

  test("two first transitions of an order that nobody knows serialise too", async () => {
    const shop = await openShop(PATIENT);
    const story = new Story("O1");
    const gate = await closedGate(shop, { table: "outbox", on: "insert", times: 1 });
    const first = shop.apply([story.placed()]);
    await gate.occupied();
    const hasty = shop.openStore({ ...PATIENT, lockTimeoutMs: 150 });
    const sale = [story.sold("c1")];
    expect(await applyTo(hasty, sale)).toMatchObject({ settled: [], trouble: { kind: "passing" } });
    const second = shop.apply(sale);
    await eventuallyBlocked(shop, 2);
    await gate.open();
    expect(wordsOf(await first)).toEqual(["applied 1"]);
    expect(wordsOf(await second)).toEqual(["applied 2"]);
    await expectSound(shop);
  });
});
