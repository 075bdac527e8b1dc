import assert from "node:assert/strict";
import { decide, derive, fold, interpret, OrderState, referencesOf } from "@junban/orders";
import type { OrderEvent, OrderView, Ref } from "@junban/orders";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Desk, outcomeOf } from "./desk.ts";
import { envelope, LCID } from "./events.ts";
import { checkOrder, checkStep } from "./invariants.ts";
import { plausibleHistory, play } from "./plausible-histories.ts";
import { shuffled } from "./shuffle.ts";
import { pictureOf } from "./transitions.ts";

// Over all files of this folder well beyond ten thousand random histories a run.

/** Generous, because the machine may be busy; the properties take seconds. */
const LIMIT_MS = 120_000;

test(
  "1, 2, 5, 6: money, stock and cancels add up after every event, and no step breaks a rule",
  () => {
    fc.assert(
      fc.property(plausibleHistory, (history) => {
        const desk = new Desk(checkStep);
        play(desk, history, () => checkOrder(desk.state));
      }),
      { numRuns: 3_000 },
    );
  },
  LIMIT_MS,
);

test(
  "3: versions are the applied events, counted without gaps, each with one outbox row",
  () => {
    fc.assert(
      fc.property(plausibleHistory, (history) => {
        const desk = new Desk();
        play(desk, history);
        const applied = desk.outcomes().filter((outcome) => outcome === "applied").length;
        expect(desk.state.totals.version).toBe(applied);
        expect(desk.history.length).toBe(applied);
        expect(desk.outboxVersions).toEqual(Array.from({ length: applied }, (_, index) => index + 1));
      }),
      { numRuns: 1_500 },
    );
  },
  LIMIT_MS,
);

test(
  "4: folding the applied events again gives the order and what is derived from it",
  () => {
    fc.assert(
      fc.property(plausibleHistory, (history) => {
        const desk = new Desk();
        play(desk, history);
        assert.deepEqual(pictureOf(fold(LCID, desk.history)), pictureOf(desk.state));
        const { totals } = desk.state;
        const reloaded = new OrderState({ totals, lines: desk.state.lines(), refs: desk.state.newRefs() });
        expect(derive(reloaded)).toEqual(desk.derived);
      }),
      { numRuns: 1_500 },
    );
  },
  LIMIT_MS,
);

test(
  "7: delivering any prefix again, in any order, changes nothing",
  () => {
    fc.assert(
      fc.property(plausibleHistory, fc.nat(), fc.infiniteStream(fc.nat()), (history, cut, dice) => {
        const desk = new Desk();
        const published = play(desk, history);
        const before = [pictureOf(desk.state), desk.outcomes(), desk.outboxVersions.length];
        const prefix = published
          .slice(0, (cut % published.length) + 1)
          .map((event, index) => ({ event, index }));
        for (const { event, index } of shuffled(prefix, dice)) {
          expect(desk.deliverAs(`evt-${index}`, event)).toBe(desk.outcomeOf(`evt-${index}`));
        }
        expect([pictureOf(desk.state), desk.outcomes(), desk.outboxVersions.length]).toEqual(before);
        // Past the inbox too: the business key of what was applied still answers.
        for (const event of desk.history) expect(decide(desk.state, event).kind).toBe("duplicate");
      }),
      { numRuns: 1_500 },
    );
  },
  LIMIT_MS,
);

test(
  "9: when all is idle nothing held is applicable, and every event has its one outcome",
  () => {
    fc.assert(
      fc.property(plausibleHistory, (history) => {
        const desk = new Desk();
        const published = play(desk, history);
        for (const [index, event] of published.entries()) {
          const outcome = desk.outcomeOf(`evt-${index}`);
          expect(outcome).toMatch(/^(applied|duplicate|rejected \w+|deferred \w+)$/);
          if (outcome?.startsWith("deferred")) expect(outcomeOf(decide(desk.state, event))).toBe(outcome);
        }
      }),
      { numRuns: 1_500 },
    );
  },
  LIMIT_MS,
);

test(
  "a decision needs no reference beyond those it names and their parents",
  () => {
    fc.assert(
      fc.property(plausibleHistory, (history) => {
        const desk = new Desk();
        const steps = play(new Desk(), history);
        for (const event of steps) {
          assert.deepEqual(decide(narrowed(desk.state, event), event), decide(desk.state, event));
          desk.deliver(event);
        }
      }),
      { numRuns: 500 },
    );
  },
  LIMIT_MS,
);

test(
  "a plausible event means itself when it comes in an envelope",
  () => {
    fc.assert(
      fc.property(plausibleHistory, (history) => {
        for (const event of play(new Desk(), history)) {
          expect(interpret(envelope(event.type, event.data))).toEqual({ kind: "known", event });
        }
      }),
      { numRuns: 50 },
    );
  },
  LIMIT_MS,
);

test(
  "the random histories reach every outcome of every type, so that the properties speak about all of them",
  () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(plausibleHistory, (history) => {
        const desk = new Desk();
        const published = play(desk, history);
        for (const [index, event] of published.entries()) {
          seen.add(`${event.type} ${desk.outcomeOf(`evt-${index}`)}`);
        }
        seen.add(desk.derived.status).add(desk.derived.paymentStatus).add(desk.derived.fulfilmentStatus);
      }),
      { numRuns: 3_000, seed: 20_261_129 },
    );
    for (const [type, outcomes] of Object.entries(OUTCOMES)) {
      const expected = ["applied", "duplicate", ...outcomes].map((outcome) => `${type} ${outcome}`);
      expect(expected.filter((outcome) => !seen.has(outcome))).toEqual([]);
    }
    expect(STATUSES.filter((status) => !seen.has(status))).toEqual([]);
  },
  LIMIT_MS,
);

/** Held events rarely stay held for want of an order, and a small world rarely exceeds its bounds; the tables show those. */
const OUTCOMES: Readonly<Record<OrderEvent["type"], readonly string[]>> = {
  "order.placed": ["rejected REF_CONFLICT"],
  "line.added": ["rejected REF_CONFLICT", "rejected ORDER_CANCELLED"],
  "line.quantity_changed": [
    "deferred LINE_NOT_FOUND",
    "deferred LINE_PRECONDITION",
    "deferred WOULD_EMPTY_ORDER",
    "rejected BELOW_CANCELLED",
    "rejected BELOW_SHIPPED",
    "rejected ORDER_CANCELLED",
    "rejected REF_CONFLICT",
    "rejected TOTAL_OUT_OF_RANGE",
  ],
  "line.removed": [
    "deferred LINE_PRECONDITION",
    "deferred WOULD_EMPTY_ORDER",
    "rejected BELOW_SHIPPED",
    "rejected ORDER_CANCELLED",
    "rejected REF_CONFLICT",
    "rejected TOTAL_OUT_OF_RANGE",
  ],
  "payment.authorized": ["rejected CURRENCY_MISMATCH", "rejected REF_CONFLICT"],
  "payment.captured": [
    "deferred AUTHORIZATION_NOT_SEEN",
    "rejected AUTHORIZATION_CLOSED",
    "rejected CURRENCY_MISMATCH",
    "rejected OVER_CAPTURE",
    "rejected REF_CONFLICT",
  ],
  "payment.voided": [
    "deferred AUTHORIZATION_NOT_SEEN",
    "rejected REF_CONFLICT",
    "rejected VOID_EXCEEDS_OPEN",
  ],
  "payment.refunded": [
    "deferred CAPTURE_NOT_SEEN",
    "rejected CAPTURE_REVERSED",
    "rejected OVER_REFUND",
    "rejected REF_CONFLICT",
  ],
  "payment.failed": ["rejected REVERSAL_AFTER_REFUND", "rejected STALE_FAILURE"],
  "inventory.reserved": [
    "deferred EXCEEDS_ORDERED",
    "deferred LINE_NOT_FOUND",
    "deferred SHORTAGE_NOT_SEEN",
    "rejected ORDER_CANCELLED",
    "rejected REF_CONFLICT",
  ],
  "inventory.short": ["deferred EXCEEDS_ORDERED", "deferred LINE_NOT_FOUND", "rejected REF_CONFLICT"],
  "inventory.released": [
    "deferred RELEASE_BELOW_SHIPPED",
    "deferred RESERVATION_NOT_SEEN",
    "rejected OVER_RELEASE",
    "rejected REF_CONFLICT",
  ],
  "inventory.shipped": [
    "deferred EXCEEDS_ORDERED",
    "deferred LINE_NOT_FOUND",
    "deferred NOT_RESERVED",
    "deferred PAYMENT_NOT_CONFIRMED",
    "rejected LINE_CANCELLED",
    "rejected ORDER_CANCELLED",
    "rejected REF_CONFLICT",
  ],
  "cancel.requested": ["deferred LINE_NOT_FOUND", "rejected REF_CONFLICT"],
  "cancel.confirmed": [
    "deferred CANCEL_NOT_REQUESTED",
    "deferred EXCEEDS_ORDERED",
    "deferred WOULD_EMPTY_ORDER",
    "rejected ALREADY_CANCELLED",
    "rejected ALREADY_SHIPPED",
    "rejected CANCEL_CLOSED",
    "rejected TOTAL_OUT_OF_RANGE",
  ],
  "cancel.rejected": ["deferred CANCEL_NOT_REQUESTED", "rejected CANCEL_CLOSED"],
};

const STATUSES = (
  "placed confirmed cancel_requested in_fulfilment completed cancelled " +
  "refund_due refunded partially_refunded paid partially_captured partially_authorized authorized voided failed unpaid " +
  "shipped partially_shipped backordered allocated partially_allocated unallocated"
).split(" ");

/** The order as a store loads it for one event. */
function narrowed(state: OrderState, event: OrderEvent): OrderView {
  const refs: Ref[] = [];
  for (const name of referencesOf(event)) {
    const ref = state.ref(name);
    if (ref === undefined) continue;
    refs.push(ref);
    const parent = ref.parent === null ? undefined : state.ref(ref.parent);
    if (parent !== undefined) refs.push(parent);
  }
  return new OrderState({ totals: state.totals, lines: state.lines(), refs });
}
