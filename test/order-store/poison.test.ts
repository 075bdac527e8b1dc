import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { decide, type EventEnvelope, type OrderEvent } from "@junban/orders";
import { describe, expect, onTestFinished, test } from "vitest";
import { expectSound, pictureOf } from "./picture.ts";
import { openShop, wordsOf, wordsOnRecord, type StoreOptions } from "./shop.ts";
import { batchOf, Story } from "./story.ts";
import { raiseAt } from "./traps.ts";

type Decide = typeof decide;

/** A decision with a bug in it: it throws for some events, and only where it could have applied them. */
function failingFor(isCursed: (event: OrderEvent) => boolean): Decide {
  return (view, event) => {
    const decision = decide(view, event);
    if (decision.kind === "applied" && isCursed(event)) throw new TypeError("a bug in the decision");
    return decision;
  };
}

const cursesRef =
  (...refs: string[]) =>
  (event: OrderEvent): boolean =>
    Object.values(event.data).some((value) => typeof value === "string" && refs.includes(value));

const CURSED: StoreOptions = { decide: failingFor(cursesRef("cursed")) };

test("what a process is about to decide is told on a diagnostics channel, each event before the next", async () => {
  const decided: string[] = [];
  const shop = await openShop({
    decide: (view, event) => {
      decided.push(event.type);
      return decide(view, event);
    },
  });
  const told: string[] = [];
  const listen = (event: unknown): void => {
    const { type, lcid } = event as OrderEvent;
    if (lcid === "O1") told.push(`${type} after ${decided.length}`);
  };
  subscribe("junban.event.deciding", listen);
  onTestFinished(() => {
    unsubscribe("junban.event.deciding", listen);
  });
  const story = new Story("O1");
  await shop.apply([story.placed(), story.authorized("a1")]);
  expect(told).toEqual(["order.placed after 0", "payment.authorized after 1"]);
});

describe("an event whose decision throws", () => {
  test("is failed in its place: its prefix stands, the order is halted, later events are deferred BLOCKED", async () => {
    const shop = await openShop(CURSED);
    const story = new Story("O1");
    const result = await shop.apply([
      story.placed(),
      story.authorized("a1"),
      story.captured("cursed", "a1", 10),
      story.captured("c2", "a1", 20),
      story.reserved("r1"),
    ]);
    expect(wordsOf(result)).toEqual([
      "applied 1",
      "applied 2",
      expect.stringMatching(/^failed /u),
      "deferred BLOCKED",
      "deferred BLOCKED",
    ]);
    expect(await shop.store.readOrder("O1")).toMatchObject({
      version: 2,
      halted: true,
      held: 2,
      arrivals: 5,
    });
    const held = await shop.store.listHeld({ limit: 10 });
    expect(held.map(({ reason, until }) => [reason, until])).toEqual([
      ["BLOCKED", null],
      ["BLOCKED", null],
    ]);
    await expectSound(shop);
  });

  test("tells what went wrong, without the event's data", async () => {
    const shop = await openShop(CURSED);
    const story = new Story("O1");
    const culprit = story.captured("cursed", "a1", 10);
    await shop.apply([story.placed(), story.authorized("a1"), culprit]);
    const report = await shop.store.readEvent({ source: culprit.source, id: culprit.id });
    expect(report).toMatchObject({ outcome: "failed", version: null, event: culprit });
    expect(report?.reason).toBe("DECISION_FAILED");
    // The kind of error and where it was thrown; its message could repeat the event.
    expect(report?.detail).toMatch(/^TypeError, at (?:\w+ )?poison\.test\.ts:\d+$/u);
    expect(await shop.store.listDead({ limit: 5 })).toMatchObject([{ id: culprit.id, outcome: "failed" }]);
  });

  test("says of an error neither its message nor what looks like part of its stack", async () => {
    const secret = "4111 1111 1111 1111\n    at jane@example.com (/home/secret.ts:1:1)";
    const kinds: readonly [unknown, RegExp][] = [
      [new RangeError(secret), /^RangeError, at (?:\w+ )?poison\.test\.ts:\d+$/u],
      [
        Object.assign(new Error(secret), { code: "SOME_CODE" }),
        /^Error, SOME_CODE, at (?:\w+ )?poison\.test\.ts:\d+$/u,
      ],
      [Object.assign(new Error("other"), { message: secret, code: secret, name: secret }), /^$/u],
      [secret, /^a thrown string$/u],
    ];
    for (const [thrown, told] of kinds) {
      const shop = await openShop({
        decide: () => {
          throw thrown;
        },
      });
      const event = new Story("O1").placed();
      await shop.apply([event]);
      expect((await shop.store.readEvent(event))?.detail).toMatch(told);
    }
  });

  test("says of what Postgres refused the state and the names of the schema", async () => {
    const shop = await openShop();
    await raiseAt(shop, { table: "order_lines", on: "insert", code: "22P05" });
    const event = new Story("O1").placed();
    await shop.apply([event]);
    expect(await shop.store.readEvent(event)).toMatchObject({
      outcome: "failed",
      reason: "REFUSED_BY_DATABASE",
      detail: "SQLSTATE 22P05",
    });
  });

  test("blocks everything that comes later, in later applies too, without deadline or cap; other orders go on", async () => {
    const shop = await openShop({ ...CURSED, holdMs: 1, holdPaymentMs: 1 });
    const story = new Story("O1");
    const other = new Story("O2");
    await shop.apply([story.placed({ L1: 9_000 }), story.sold("cursed")]);
    const blocked = Array.from({ length: 130 }, (_, index) => story.reserved(`r${index}`, "L1", 1));
    const [result, fine] = await shop.store.apply([
      batchOf("O1", [...blocked, story.event("payment.teleported", {})]),
      batchOf("O2", other.completed()),
    ]);
    expect(new Set(wordsOf(result!))).toEqual(new Set(["deferred BLOCKED"]));
    expect(wordsOf(fine!).at(-1)).toBe("applied 5");
    expect(await shop.store.dueHeld({ limit: 10 })).toEqual([]);
    expect(await shop.store.expireHeld("O1")).toBe(0);
    await expectSound(shop);
  });

  test("repeats of the failed and of the blocked ones are answered as they stand, and decide nothing", async () => {
    const shop = await openShop(CURSED);
    const story = new Story("O1");
    const events = [story.placed(), story.sold("cursed"), story.sold("c2")];
    await shop.apply(events);
    const before = await pictureOf(shop, "O1");
    expect(wordsOf(await shop.apply(events))).toEqual([
      "again applied 1",
      expect.stringMatching(/^again failed /u),
      "again deferred BLOCKED",
    ]);
    expect(await pictureOf(shop, "O1")).toEqual(before);
  });

  test("data that breaks a rule is rejected in its place even while the order is halted", async () => {
    const shop = await openShop(CURSED);
    const story = new Story("O1");
    await shop.apply([story.placed(), story.sold("cursed")]);
    const result = await shop.apply([story.sold("c2", 1.5), story.sold("c3")]);
    expect(wordsOf(result)).toEqual(["rejected INVALID_PAYLOAD", "deferred BLOCKED"]);
    await expectSound(shop);
  });

  test("with poison=skip it is set aside and its order goes on", async () => {
    const shop = await openShop({ ...CURSED, poison: "skip" });
    const story = new Story("O1");
    const result = await shop.apply([
      story.placed(),
      story.sold("cursed"),
      story.sold("c2"),
      story.reserved("r1"),
    ]);
    expect(wordsOf(result)).toEqual([
      "applied 1",
      expect.stringMatching(/^failed /u),
      "applied 2",
      "applied 3",
    ]);
    expect(await shop.store.readOrder("O1")).toMatchObject({ halted: false, held: 0, version: 3 });
    expect(await shop.store.listDead({ outcome: "failed", limit: 5 })).toHaveLength(1);
    await expectSound(shop, { poison: "skip" });
  });

  test("several of them in one batch and in several lanes: each lane keeps its own prefix", async () => {
    const shop = await openShop(CURSED);
    const batches = ["A", "B", "C"].map((lcid, index) => {
      const story = new Story(lcid);
      const events: EventEnvelope[] = [story.placed({ L1: 90 })];
      for (let count = 0; count < 4; count += 1) {
        events.push(story.reserved(count === index ? "cursed" : `r${count}`, "L1", 1));
      }
      return batchOf(lcid, events);
    });
    const results = await shop.store.apply(batches);
    const failed = expect.stringMatching(/^failed /u) as string;
    expect(results.map(wordsOf)).toEqual([
      ["applied 1", failed, "deferred BLOCKED", "deferred BLOCKED", "deferred BLOCKED"],
      ["applied 1", "applied 2", failed, "deferred BLOCKED", "deferred BLOCKED"],
      ["applied 1", "applied 2", "applied 3", failed, "deferred BLOCKED"],
    ]);
    await expectSound(shop);
  });
});

describe("a held event that fails when its turn comes", () => {
  test("its decision throws: it is failed, not the event that brought its turn", async () => {
    const shop = await openShop(CURSED);
    const story = new Story("O1");
    await shop.apply([story.placed(), story.captured("cursed", "a1", 10), story.captured("c2", "a1", 20)]);
    const result = await shop.apply([story.authorized("a1"), story.reserved("r1")]);
    expect(wordsOf(result)).toEqual(["applied 2", "deferred BLOCKED"]);
    expect(await wordsOnRecord(shop, "O1")).toEqual([
      "applied 1",
      expect.stringMatching(/^failed /u),
      // Held before the halt, it keeps its own reason and waits with the order.
      expect.stringMatching(/^deferred /u),
      "applied 2",
      "deferred BLOCKED",
    ]);
    expect(await shop.store.readOrder("O1")).toMatchObject({ halted: true, version: 2, capturedMinor: 0 });
    await expectSound(shop);
  });

  test("in the batch that brings its turn: the same", async () => {
    const shop = await openShop(CURSED);
    const story = new Story("O1");
    const result = await shop.apply([
      story.placed(),
      story.captured("cursed", "a1", 10),
      story.authorized("a1"),
      story.reserved("r1"),
    ]);
    expect(wordsOf(result).slice(2)).toEqual(["applied 2", "deferred BLOCKED"]);
    expect((await wordsOnRecord(shop, "O1"))[1]).toMatch(/^failed /u);
    await expectSound(shop);
  });

  test("Postgres refuses what it writes: nothing is half written, and dropping it lets its trigger be replayed", async () => {
    const shop = await openShop();
    await raiseAt(shop, { table: "order_refs", on: "insert", when: "new.ref = 'cursed'", code: "23514" });
    const story = new Story("O1");
    const [cursed, trigger] = [story.captured("cursed", "a1", 10), story.authorized("a1")];
    await shop.apply([story.placed(), cursed, story.captured("c2", "a1", 20)]);
    // The two were written in one statement, so Postgres cannot say which of them it refused.
    expect(wordsOf(await shop.apply([trigger, story.reserved("r1")]))).toEqual([
      "failed REFUSED_BY_DATABASE",
      "deferred BLOCKED",
    ]);
    await expectSound(shop);
    await shop.store.drop({ ...cursed, reason: "refused by the database" });
    expect(await shop.store.replay(trigger)).toMatchObject({ outcome: "applied", halted: false });
    expect((await wordsOnRecord(shop, "O1")).slice(2)).toEqual(["applied 3", "applied 2", "applied 4"]);
    await expectSound(shop);
  });

  test("with poison=skip the others that waited are still decided", async () => {
    const shop = await openShop({ ...CURSED, poison: "skip" });
    const story = new Story("O1");
    await shop.apply([story.placed(), story.captured("cursed", "a1", 10), story.captured("c2", "a1", 20)]);
    const result = await shop.apply([story.authorized("a1")]);
    expect(wordsOf(result)).toEqual(["applied 2"]);
    expect(await wordsOnRecord(shop, "O1")).toEqual([
      "applied 1",
      expect.stringMatching(/^failed /u),
      "applied 3",
      "applied 2",
    ]);
    await expectSound(shop, { poison: "skip" });
  });
});

describe("CHECK constraints are a second line of defence", () => {
  test("a decision that would break an invariant of the row is refused by Postgres and settled failed", async () => {
    const shop = await openShop({
      decide: (view, event) => {
        const decision = decide(view, event);
        if (decision.kind !== "applied" || event.type !== "payment.captured") return decision;
        const totals = { ...decision.change.totals, refundedMinor: 1_000_000 };
        return { kind: "applied", change: { ...decision.change, totals } };
      },
    });
    const story = new Story("O1");
    const result = await shop.apply([story.placed(), story.sold("c1"), story.reserved("r1")]);
    expect(wordsOf(result)).toEqual(["applied 1", expect.stringMatching(/^failed /u), "deferred BLOCKED"]);
    await expectSound(shop);
  });
});
