import { decide } from "@junban/orders";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import { expectSound } from "./picture.ts";
import { openShop, wordsOf, wordsOnRecord } from "./shop.ts";
import { batchOf, Story } from "./story.ts";
import { closedGate, eventuallyBlocked } from "./traps.ts";

const HOUR_MS = 3_600_000;
const PATIENT = { lockTimeoutMs: 20_000, statementTimeoutMs: 20_000, idleTransactionTimeoutMs: 20_000 };

describe("how long an event may wait", () => {
  test("72 hours for a payment, 24 hours for anything else, counted from its first decision", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    await shop.apply([
      story.captured("c0", "a0"),
      story.placed(),
      story.captured("c1", "a1"),
      story.refunded("f1", "c9", 1),
      story.reserved("r1"),
      story.shipped("s1"),
      story.lineAdded("L2"),
      story.shipped("s2", { L2: 1 }),
      story.cancelConfirmed("x1"),
      story.event("payment.teleported", {}),
    ]);
    const held = await shop.sql<{ reason: string; hours: number | null }>(
      `select reason, round(extract(epoch from deferred_until - first_decided_at) / 3600)::int as hours
       from order_events where outcome = 'deferred' order by arrival`,
    );
    expect(held).toEqual([
      // It waited for its order first and for its authorization since.
      { reason: "AUTHORIZATION_NOT_SEEN", hours: 72 },
      { reason: "AUTHORIZATION_NOT_SEEN", hours: 72 },
      { reason: "CAPTURE_NOT_SEEN", hours: 72 },
      { reason: "PAYMENT_NOT_CONFIRMED", hours: 72 },
      { reason: "NOT_RESERVED", hours: 24 },
      { reason: "CANCEL_NOT_REQUESTED", hours: 24 },
      { reason: "UNSUPPORTED", hours: null },
    ]);
  });

  test("listHeld shows those due first in front, those without a deadline last, and only the near ones when asked", async () => {
    const shop = await openShop({ holdMs: HOUR_MS, holdPaymentMs: 2 * HOUR_MS });
    const story = new Story("O1");
    await shop.apply([
      story.placed(),
      story.event("payment.teleported", {}),
      story.captured("c1", "a1"),
      story.shipped("s1"),
    ]);
    const reasonsOf = async (dueWithinMs?: number): Promise<string[]> =>
      (await shop.store.listHeld({ limit: 9, ...(dueWithinMs === undefined ? {} : { dueWithinMs }) })).map(
        ({ reason }) => reason,
      );
    expect(await reasonsOf()).toEqual(["NOT_RESERVED", "AUTHORIZATION_NOT_SEEN", "UNSUPPORTED"]);
    expect(await reasonsOf(1.5 * HOUR_MS)).toEqual(["NOT_RESERVED"]);
    expect(await shop.store.listHeld({ limit: 1 })).toHaveLength(1);
  });
});

describe("a deadline that has passed", () => {
  test("dueHeld names the order, expireHeld rejects PREREQ_TIMEOUT with the reason; others of the order still wait", async () => {
    const shop = await openShop({ holdPaymentMs: 1, holdMs: HOUR_MS });
    const [first, second] = [new Story("O1"), new Story("O2")];
    const late = first.captured("c1", "a1");
    await shop.apply([first.placed(), late, first.reserved("r1", "L9")]);
    await shop.apply([second.placed(), second.reserved("r1", "L9")]);
    await eventually(async () => expect(await shop.store.dueHeld({ limit: 10 })).toEqual(["O1"]));
    expect(await shop.store.dueHeld({ limit: 10, after: "O1" })).toEqual([]);
    const version = (await shop.store.readOrder("O1"))?.version;
    expect(await shop.store.expireHeld("O1")).toBe(1);
    expect(await shop.store.expireHeld("O1")).toBe(0);
    expect(await wordsOnRecord(shop, "O1")).toEqual([
      "applied 1",
      "rejected PREREQ_TIMEOUT:AUTHORIZATION_NOT_SEEN",
      "deferred LINE_NOT_FOUND",
    ]);
    expect(await shop.store.readOrder("O1")).toMatchObject({ version, held: 1 });
    expect(await shop.store.dueHeld({ limit: 10 })).toEqual([]);
    // Its prerequisite comes too late; a repeat is told how it ended.
    expect((await shop.apply([first.authorized("a1")])).released).toBe(0);
    expect(wordsOf(await shop.apply([late]))).toEqual([
      "again rejected PREREQ_TIMEOUT:AUTHORIZATION_NOT_SEEN",
    ]);
    await expectSound(shop);
  });

  test("a shipment whose deadline passes becomes an alert: the parcel left all the same", async () => {
    const shop = await openShop({ holdPaymentMs: 1 });
    const story = new Story("O1");
    await shop.apply([story.placed(), story.reserved("r1"), story.shipped("s1")]);
    await eventually(async () => expect(await shop.store.expireHeld("O1")).toBe(1));
    expect((await shop.store.readOrder("O1"))?.alerts).toMatchObject([
      { type: "inventory.shipped", reason: "PREREQ_TIMEOUT:PAYMENT_NOT_CONFIRMED" },
    ]);
    await expectSound(shop);
  });

  test("until expireHeld has run, a prerequisite still releases an overdue event", async () => {
    const shop = await openShop({ holdPaymentMs: 1 });
    const story = new Story("O1");
    await shop.apply([story.placed(), story.captured("c1", "a1")]);
    await eventually(async () => expect(await shop.store.dueHeld({ limit: 10 })).toEqual(["O1"]));
    expect((await shop.apply([story.authorized("a1")])).released).toBe(1);
    expect(await shop.store.expireHeld("O1")).toBe(0);
    await expectSound(shop);
  });

  test("expiry takes each order's row: it waits for a transition under way and judges what that left", async () => {
    const shop = await openShop({ ...PATIENT, holdPaymentMs: 1 });
    const story = new Story("O1");
    await shop.apply([story.placed(), story.captured("c1", "a1")]);
    const gate = await closedGate(shop, { table: "outbox", on: "insert", times: 1 });
    const applying = shop.apply([story.authorized("a1")]);
    await gate.occupied();
    const expiring = shop.store.expireHeld("O1");
    await eventuallyBlocked(shop, 2);
    await gate.open();
    expect((await applying).released).toBe(1);
    expect(await expiring).toBe(0);
    await expectSound(shop);
  });

  test("two sweepers at once expire each event once", async () => {
    const shop = await openShop({ holdPaymentMs: 1 });
    const story = new Story("O1");
    await shop.apply([
      story.placed(),
      ...Array.from({ length: 20 }, (_, index) => story.captured(`c${index}`, "a1", 1)),
    ]);
    await eventually(async () => expect(await shop.store.dueHeld({ limit: 10 })).toEqual(["O1"]));
    const other = shop.openStore();
    const counts = await Promise.all([shop.store.expireHeld("O1"), other.expireHeld("O1")]);
    expect(counts.toSorted((a, b) => a - b)).toEqual([0, 20]);
    await expectSound(shop);
  });

  test("while the order is halted nothing expires, for what is waited for may be blocked itself", async () => {
    let isMended = false;
    const shop = await openShop({
      holdPaymentMs: 1,
      decide: (view, event) => {
        if (!isMended && event.type === "inventory.reserved") throw new TypeError("a bug in the decision");
        return decide(view, event);
      },
    });
    const story = new Story("O1");
    const culprit = story.reserved("r1");
    const early = story.captured("c1", "a1");
    await shop.apply([story.placed(), early, culprit, story.authorized("a1")]);
    await shop.sql("select pg_sleep(0.05)");
    expect(await shop.store.dueHeld({ limit: 10 })).toEqual([]);
    expect(await shop.store.expireHeld("O1")).toBe(0);
    isMended = true;
    expect(await shop.store.replay(culprit)).toMatchObject({ version: 2, released: 1 });
    expect(await shop.store.readEvent(early)).toMatchObject({ outcome: "applied", version: 4 });
    expect(await shop.store.expireHeld("O1")).toBe(0);
    await expectSound(shop);
  });

  test("BLOCKED and UNSUPPORTED have no deadline", async () => {
    const shop = await openShop({
      holdPaymentMs: 1,
      holdMs: 1,
      decide: () => {
        throw new TypeError("a bug in the decision");
      },
    });
    const story = new Story("O1");
    expect(
      wordsOf(await shop.apply([story.event("payment.teleported", {}), story.placed(), story.sold("c1")])),
    ).toEqual(["deferred UNSUPPORTED", expect.stringMatching(/^failed/u), "deferred BLOCKED"]);
    await shop.sql("select pg_sleep(0.05)");
    expect(await shop.store.dueHeld({ limit: 10 })).toEqual([]);
    expect(await shop.store.expireHeld("O1")).toBe(0);
    await expectSound(shop);
  });
});

describe("events that this build does not know", () => {
  /** What a newer build would have understood: the event on record is rewritten into one that this build knows. */
  const LEARNED = `update order_events set event = $2::jsonb, type = $2::jsonb ->> 'type' where event_id = $1`;

  test("are kept whole, do not hold up others, and are decided by arrival once they can be read", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const unknown = story.event("payment.teleported", { to: "the moon", nested: [{ deep: true }] });
    const newer = story.captured("c1", "a1", 200, { schemaversion: 2 });
    expect(wordsOf(await shop.apply([story.placed(), newer, unknown, story.reserved("r1")]))).toEqual([
      "applied 1",
      "deferred UNSUPPORTED",
      "deferred UNSUPPORTED",
      "applied 2",
    ]);
    expect((await shop.store.readEvent(unknown))?.event).toEqual(unknown);
    expect(await shop.store.unsupported({ limit: 10 })).toEqual([]);
    expect(await shop.store.redecideUnsupported("O1")).toBe(0);

    await shop.sql(LEARNED, [newer.id, JSON.stringify({ ...newer, schemaversion: 1 })]);
    await shop.sql(LEARNED, [unknown.id, JSON.stringify({ ...story.authorized("a1"), id: unknown.id })]);
    expect(await shop.store.unsupported({ limit: 10 })).toEqual(["O1"]);
    expect(await shop.store.unsupported({ limit: 10, after: "O1" })).toEqual([]);
    expect(await shop.store.redecideUnsupported("O1")).toBe(2);
    // The capture arrived first: it was held, and its authorization then released it.
    expect(await wordsOnRecord(shop, "O1")).toEqual(["applied 1", "applied 4", "applied 3", "applied 2"]);
    expect(await shop.store.redecideUnsupported("O1")).toBe(0);
    await expectSound(shop);
  });

  test("one that is still early when it can be read waits on, now with a deadline", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const newer = story.captured("c1", "a1", 200, { schemaversion: 2 });
    await shop.apply([story.placed(), newer]);
    await shop.sql(LEARNED, [newer.id, JSON.stringify({ ...newer, schemaversion: 1 })]);
    await shop.store.redecideUnsupported("O1");
    const [held] = await shop.store.listHeld({ limit: 5 });
    expect(held).toMatchObject({ reason: "AUTHORIZATION_NOT_SEEN" });
    expect(held?.until).toBeInstanceOf(Date);
    expect(await shop.store.unsupported({ limit: 10 })).toEqual([]);
    await expectSound(shop);
  });

  test("one that a newer build holds is left to it, without a deadline, as soon as what it waits for may have come", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const early = story.captured("c1", "a1", 200);
    const newer = { ...early, schemaversion: 2 };
    expect(wordsOf(await shop.apply([story.placed(), early]))).toEqual([
      "applied 1",
      "deferred AUTHORIZATION_NOT_SEEN",
    ]);
    await shop.sql(LEARNED, [early.id, JSON.stringify(newer)]);
    await shop.apply([story.captured("c2", "a2", 200)]);
    const [still] = await shop.store.listHeld({ limit: 5 });
    expect(still).toMatchObject({ reason: "AUTHORIZATION_NOT_SEEN" });
    expect(still?.until).toBeInstanceOf(Date);

    expect((await shop.apply([story.authorized("a1")])).trouble).toBeNull();
    const left = await shop.store.readEvent(early);
    expect(left).toMatchObject({ outcome: "deferred", reason: "UNSUPPORTED", deferredUntil: null });
    expect(left?.event).toEqual(newer);
    await expectSound(shop);

    await shop.sql(LEARNED, [early.id, JSON.stringify(early)]);
    expect(await shop.store.redecideUnsupported("O1")).toBe(1);
    expect((await wordsOnRecord(shop, "O1"))[1]).toBe("applied 3");
    await expectSound(shop);
  });

  test("while its order is halted nothing is decided", async () => {
    const shop = await openShop({
      decide: () => {
        throw new TypeError("a bug in the decision");
      },
    });
    const story = new Story("O1");
    const newer = story.sold("c1", 200, { schemaversion: 2 });
    await shop.apply([newer, story.placed()]);
    await shop.sql(LEARNED, [newer.id, JSON.stringify({ ...newer, schemaversion: 1 })]);
    const arrivals = (await shop.store.readOrder("O1"))?.arrivals;
    await shop.store.redecideUnsupported("O1");
    expect(await shop.store.readOrder("O1")).toMatchObject({ halted: true, version: 0, arrivals });
    expect((await wordsOnRecord(shop, "O1"))[0]).toMatch(/^deferred /u);
  });

  test("are found in every order, a page at a time, however many stand there that still cannot be read", async () => {
    const shop = await openShop();
    const stories = ["A", "B", "C", "D"].map((lcid) => new Story(lcid));
    await shop.store.apply(
      stories.map((story) =>
        batchOf(story.lcid, [
          story.placed(),
          ...Array.from({ length: 120 }, (_, index) => story.sold(`c${index}`, 1, { schemaversion: 2 })),
        ]),
      ),
    );
    await shop.sql(
      `update order_events set event = jsonb_set(event, '{schemaversion}', '1')
       where lcid in ('B', 'D') and arrival in (2, 3, 121)`,
    );
    const found: string[] = [];
    for (;;) {
      const lcids = await shop.store.unsupported({ limit: 1, after: found.at(-1) ?? "" });
      if (lcids.length === 0) break;
      found.push(...lcids);
    }
    expect(found).toEqual(["B", "D"]);
    expect(await shop.store.unsupported({ limit: 10 })).toEqual(["B", "D"]);
    for (const lcid of found) {
      // Each call takes one bounded step.
      for (let left = 3; left > 0;) {
        const decided = await shop.store.redecideUnsupported(lcid);
        expect(decided).toBeGreaterThan(0);
        left -= decided;
      }
      expect(await shop.store.redecideUnsupported(lcid)).toBe(0);
    }
    expect(await shop.store.unsupported({ limit: 10 })).toEqual([]);
    expect(await shop.sql("select lcid, version, held from orders order by lcid")).toEqual([
      { lcid: "A", version: 1, held: 120 },
      { lcid: "B", version: 4, held: 117 },
      { lcid: "C", version: 1, held: 120 },
      { lcid: "D", version: 4, held: 117 },
    ]);
    await expectSound(shop);
  });
});
