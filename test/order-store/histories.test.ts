import { createHash } from "node:crypto";
import { compareOrders, compareOutcomes, identityOf, referenceOf, tellStories } from "@junban/order-stories";
import type { ActualOutcome } from "@junban/order-stories";
import { decide, type EventEnvelope, type OrderEvent } from "@junban/orders";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/index.ts";
import { meetingEvents } from "./meeting-events.ts";
import { expectSound, pictureOf } from "./picture.ts";
import { applyTo, shopAt, type Shop, type StoreOptions } from "./shop.ts";
import { batchOf, Story } from "./story.ts";
import { raiseAt, terminateAt, type Trap } from "./traps.ts";

/** What happens to one apply: a trap that springs so often, or the redelivery of what came before. */
type Fate =
  | { readonly kind: "fine" }
  | { readonly kind: "trap"; readonly trap: number; readonly times: number }
  | { readonly kind: "again" };

interface Plan {
  readonly sizes: readonly number[];
  readonly fates: readonly Fate[];
}

const plans: fc.Arbitrary<Plan> = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
  fates: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant<Fate>({ kind: "fine" }) },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant("trap" as const),
          trap: fc.nat(3),
          times: fc.integer({ min: 1, max: 7 }),
        }),
      },
      { weight: 1, arbitrary: fc.constant<Fate>({ kind: "again" }) },
    ),
    { minLength: 1, maxLength: 6 },
  ),
});

interface Labs {
  /** Where events come in groups, fail, crash and come again. */
  readonly rough: Shop;
  readonly traps: readonly Trap[];
  /** Where the same events come one at a time, once. */
  readonly calm: Shop;
}

async function openLabs(roughOptions: StoreOptions = {}): Promise<Labs> {
  const [rough, calm] = await Promise.all([
    shopAt(await freshDatabase(), roughOptions),
    shopAt(await freshDatabase()),
  ]);
  onTestFinished(rough.close);
  onTestFinished(calm.close);
  const traps = [
    await raiseAt(rough.shop, { table: "order_events", on: "insert", code: "40001", times: 0 }),
    await raiseAt(rough.shop, { table: "outbox", on: "insert", code: "XX000", times: 0 }),
    await raiseAt(rough.shop, { table: "orders", on: "commit of update", code: "40P01", times: 0 }),
    await terminateAt(rough.shop, { table: "orders", on: "update", times: 0 }),
  ];
  return { rough: rough.shop, traps, calm: calm.shop };
}

/** Applies a stretch of the stream as a worker does: grouped by order, again and again until each lane is through. */
async function applyStretch(shop: Shop, stretch: readonly EventEnvelope[]): Promise<void> {
  const lanes = new Map<string, EventEnvelope[]>();
  for (const event of stretch) lanes.set(event.lcid, [...(lanes.get(event.lcid) ?? []), event]);
  for (let attempt = 0; lanes.size > 0; attempt += 1) {
    expect(attempt).toBeLessThan(40);
    const results = await shop.store.apply([...lanes].map(([lcid, events]) => batchOf(lcid, events)));
    for (const { lcid, settled, trouble } of results) {
      const left = lanes.get(lcid)!.slice(settled.length);
      expect(trouble === null).toBe(left.length === 0);
      if (left.length === 0) lanes.delete(lcid);
      else lanes.set(lcid, left);
    }
  }
}

async function applyRoughly(
  { rough, traps }: Labs,
  stream: readonly EventEnvelope[],
  plan: Plan,
): Promise<void> {
  let at = 0;
  for (let step = 0; at < stream.length; step += 1) {
    const fate = plan.fates[step % plan.fates.length]!;
    const size = plan.sizes[step % plan.sizes.length]!;
    if (fate.kind === "trap") await traps[fate.trap]!.arm(fate.times);
    const from = fate.kind === "again" ? Math.max(0, at - 6) : at;
    await applyStretch(rough, stream.slice(from, at + size));
    for (const trap of traps) await trap.disarm();
    at += size;
  }
}

async function expectSameEnd({ rough, calm }: Labs, stream: readonly EventEnvelope[]): Promise<void> {
  const lcids = [...new Set(stream.map(({ lcid }) => lcid))];
  for (const event of stream) expect((await applyTo(calm.store, [event])).trouble).toBeNull();
  for (const lcid of lcids) expect(await pictureOf(rough, lcid)).toEqual(await pictureOf(calm, lcid));

  const reference = referenceOf(stream);
  const histories = await Promise.all(lcids.map(async (lcid) => rough.store.readHistory(lcid)));
  const outcomes: ActualOutcome[] = histories
    .flat()
    .map(({ source, id, outcome, reason, version }) => ({ source, id, outcome, reason, version }));
  expect(compareOutcomes(reference, outcomes)).toEqual([]);
  const reports = await Promise.all(lcids.map(async (lcid) => rough.store.readOrder(lcid)));
  const unsupported = new Map(
    histories.map((history, index) => [
      lcids[index],
      history.filter(({ reason }) => reason === "UNSUPPORTED").length,
    ]),
  );
  const orders = reports.map((report) => ({
    ...report!,
    held: report!.held - unsupported.get(report!.lcid)!,
  }));
  expect(compareOrders(reference, orders)).toEqual([]);
  expect(new Set(outcomes.map(identityOf)).size).toBe(outcomes.length);
}

/** Two orders' events, shuffled together. Each history is about orders of its own. */
function pairsOfHistories(): fc.Arbitrary<EventEnvelope[]> {
  let told = 0;
  return fc.constant(null).chain(() => {
    told += 1;
    return fc
      .tuple(meetingEvents(`P${told}a`), meetingEvents(`P${told}b`), fc.infiniteStream(fc.boolean()))
      .map(([a, b, turns]) => interleaved(a, b, turns));
  });
}

/** 0 to 9, the same whenever the event says the same. */
function digitOf({ lcid: _lcid, ...event }: OrderEvent): number {
  const [byte] = createHash("sha256").update(JSON.stringify(event)).digest();
  return byte! % 10;
}

/** Replays what failed until nothing stands failed any more; returns how much that was. */
async function replayAll(shop: Shop): Promise<number> {
  for (let replayed = 0; ; replayed += 1) {
    const [dead] = await shop.store.listDead({ outcome: "failed", limit: 1 });
    if (dead === undefined) return replayed;
    expect((await shop.store.replay(dead)).outcome).not.toBe("failed");
  }
}

describe("whatever the grouping and whatever breaks, the rows end as if every event had come once, alone and in order", () => {
  test("small histories of events that meet, clash and wait", async () => {
    const labs = await openLabs();
    await fc.assert(
      fc.asyncProperty(pairsOfHistories(), plans, async (stream, plan) => {
        await applyRoughly(labs, stream, plan);
        await expectSameEnd(labs, stream);
      }),
      { numRuns: 15, endOnFailure: true },
    );
    await expectSound(labs.rough);
    await expectSound(labs.calm);
  });

  test("events that fail halt their order, and replayed later they and all behind them take their places", async () => {
    const curse = { isOn: true };
    const labs = await openLabs({
      decide: (view, event) => {
        const decision = decide(view, event);
        const isCursed = curse.isOn && decision.kind === "applied" && digitOf(event) < 2;
        if (isCursed) throw new TypeError("a bug in the decision");
        return decision;
      },
    });
    // Of those that are made up, all may be spared.
    const story = new Story("cursed");
    const surelyCursed = [
      story.placed(),
      ...Array.from({ length: 20 }, (_, index) => story.paymentFailedAs(`${index}`)),
    ];
    let failures = 0;
    await fc.assert(
      fc.asyncProperty(pairsOfHistories(), plans, async (stream, plan) => {
        curse.isOn = true;
        await applyRoughly(labs, stream, plan);
        await expectSound(labs.rough);
        curse.isOn = false;
        failures += await replayAll(labs.rough);
        await expectSameEnd(labs, stream);
      }),
      {
        numRuns: 10,
        endOnFailure: true,
        examples: [[surelyCursed, { sizes: [4], fates: [{ kind: "fine" }] }]],
      },
    );
    expect(failures).toBeGreaterThan(0);
    await expectSound(labs.rough);
  });

  test("long histories of one order, which are written while they are being decided", async () => {
    const labs = await openLabs();
    let told = 0;
    const histories = fc.constant(null).chain(() => {
      told += 1;
      return meetingEvents(`long${told}`, { minLength: 300, maxLength: 400 });
    });
    const longPlans = plans.map(({ fates }) => ({ fates, sizes: [400, 150] }));
    await fc.assert(
      fc.asyncProperty(histories, longPlans, async (stream, plan) => {
        await applyRoughly(labs, stream, plan);
        await expectSameEnd(labs, stream);
      }),
      { numRuns: 3, endOnFailure: true },
    );
    await expectSound(labs.rough);
  });

  test("realistic traffic of several orders, with repeats, early and invalid events", async () => {
    const labs = await openLabs();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), plans, async (seed, plan) => {
        const published = tellStories({
          seed,
          orders: 5,
          eventsPerOrder: 9,
          repeatShare: 0.15,
          earlyShare: 0.15,
          invalidCount: 3,
          lcidPrefix: `S${seed}-`,
        });
        const stream = published.map(({ event }) => event);
        await applyRoughly(labs, stream, plan);
        await expectSameEnd(labs, stream);
      }),
      { numRuns: 6, endOnFailure: true },
    );
    await expectSound(labs.rough);
    await expectSound(labs.calm);
  });
});

function interleaved(
  a: readonly EventEnvelope[],
  b: readonly EventEnvelope[],
  turns: Iterable<boolean>,
): EventEnvelope[] {
  const [left, right, merged]: [EventEnvelope[], EventEnvelope[], EventEnvelope[]] = [[...a], [...b], []];
  for (const isLeft of turns) {
    const next = (isLeft ? left : right).shift() ?? left.shift() ?? right.shift();
    if (next === undefined) return merged;
    merged.push(next);
  }
  return merged;
}
