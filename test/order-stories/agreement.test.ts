import { compareOrders, compareOutcomes, hotStory, referenceOf, tellStories } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OrdersSubject } from "./orders-subject.ts";
import { chaoticHistory, displaced } from "./small-world.ts";

/** Where the domain and the second reading of its specification differ: nothing, or one of them is wrong. */
function differences(
  events: readonly EventEnvelope[],
  { batchSize }: { batchSize: number },
): readonly string[] {
  const reference = referenceOf(events);
  const subject = new OrdersSubject({ batchSize });
  subject.takeAll(events);
  const conflicts = subject.conflicts();
  return [
    ...compareOutcomes(reference, subject.outcomes()),
    ...compareOrders(reference, subject.orders()),
    ...compareOrders(reference, subject.refolded()).map((difference) => `folded again, ${difference}`),
    ...[...reference.values()]
      .filter(({ lcid, conflicts: expected }) => expected.join() !== conflicts.get(lcid)?.join())
      .map(({ lcid }) => `${lcid}: other conflicts`),
  ];
}

const batchSize = fc.integer({ min: 1, max: 12 });

describe("the domain agrees with the second reading", () => {
  test("on told streams", { timeout: 120_000 }, () => {
    for (const seed of [1, 2, 3, 4]) {
      const events = tellStories({ seed, orders: 500, invalidCount: 60 }).map(({ event }) => event);
      expect(differences(events, { batchSize: 1 + seed * 7 })).toEqual([]);
    }
  });

  test("on a hot order's long history", { timeout: 120_000 }, () => {
    expect(differences(hotStory({ seed: 11, lcid: "HOT", events: 2_000 }), { batchSize: 128 })).toEqual([]);
  });

  test("on stories that arrive out of order", { timeout: 240_000 }, () => {
    const moves = fc.array(fc.record({ from: fc.nat(), by: fc.nat(25) }), { maxLength: 40 });
    const story = fc.record({
      seed: fc.nat(),
      length: fc.integer({ min: 5, max: 80 }),
      lasting: fc.boolean(),
    });
    fc.assert(
      fc.property(story, moves, batchSize, ({ seed, length, lasting }, moved, size) => {
        const told = lasting
          ? hotStory({ seed, lcid: "A-1", events: length })
          : tellStories({ seed, orders: 1, eventsPerOrder: length, repeatShare: 0, invalidCount: 3 }).map(
              ({ event }) => event,
            );
        expect(differences(displaced(told, moved), { batchSize: size })).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("on chaos in a small world", { timeout: 240_000 }, () => {
    fc.assert(
      fc.property(chaoticHistory, batchSize, (events, size) => {
        expect(differences(events, { batchSize: size })).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });
});

test("chaos in the small world reaches every outcome that a decision can have", { timeout: 120_000 }, () => {
  const reached = new Set<string>();
  for (const events of fc.sample(chaoticHistory, { seed: 20_261_129, numRuns: 1_500 })) {
    for (const { outcomes } of referenceOf(events).values()) {
      for (const { outcome, reason } of outcomes.values()) {
        reached.add(reason === null ? outcome : `${outcome} ${reason}`);
      }
    }
  }
  expect([...reached].toSorted()).toEqual([
    "applied",
    "deferred AUTHORIZATION_NOT_SEEN",
    "deferred CANCEL_NOT_REQUESTED",
    "deferred CAPTURE_NOT_SEEN",
    "deferred EXCEEDS_ORDERED",
    "deferred LINE_NOT_FOUND",
    "deferred LINE_PRECONDITION",
    "deferred NOT_RESERVED",
    "deferred ORDER_NOT_FOUND",
    "deferred PAYMENT_NOT_CONFIRMED",
    "deferred RELEASE_BELOW_SHIPPED",
    "deferred RESERVATION_NOT_SEEN",
    "deferred SHORTAGE_NOT_SEEN",
    "deferred UNSUPPORTED",
    "deferred WOULD_EMPTY_ORDER",
    "duplicate",
    "rejected ALREADY_CANCELLED",
    "rejected ALREADY_SHIPPED",
    "rejected AUTHORIZATION_CLOSED",
    "rejected BELOW_CANCELLED",
    "rejected BELOW_SHIPPED",
    "rejected CANCEL_CLOSED",
    "rejected CAPTURE_REVERSED",
    "rejected CURRENCY_MISMATCH",
    "rejected INVALID_PAYLOAD",
    "rejected LINE_CANCELLED",
    "rejected ORDER_CANCELLED",
    "rejected OVER_CAPTURE",
    "rejected OVER_REFUND",
    "rejected OVER_RELEASE",
    "rejected REF_CONFLICT",
    "rejected REVERSAL_AFTER_REFUND",
    "rejected STALE_FAILURE",
    "rejected TOTAL_OUT_OF_RANGE",
    "rejected VOID_EXCEEDS_OPEN",
  ]);
});
