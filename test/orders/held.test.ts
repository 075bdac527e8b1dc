import { decide, emptyOrder, fold, redecide } from "@junban/orders";
import type { Decision, HeldEvent, OrderEvent, OrderView } from "@junban/orders";
import { describe, expect, test } from "vitest";
import {
  authorized,
  captured,
  failed,
  LCID,
  line,
  placed,
  refunded,
  reserved,
  sale,
  shipped,
} from "./events.ts";

describe("held events", () => {
  const hold = (...events: readonly OrderEvent[]): HeldEvent[] =>
    events.map((held, index) => ({ arrival: 10 + index, event: held }));
  const order = placed([line("L1", 1)]);

  test("are decided earliest first, again after each one that was applied", () => {
    const state = fold(LCID, [order, authorized("a-1", 100)]);
    // The refund waits for the capture, which came after it; of the two captures the earlier one fits.
    const held = hold(refunded("f-1", "c-1", 5), captured("c-1", "a-1", 100), captured("c-2", "a-1", 100));
    const { verdicts, stillHeld } = redecide(state, held.toReversed(), { stopOnFailure: true });
    expect(verdicts).toMatchObject([
      { arrival: 11, kind: "applied", version: 3, derived: { paymentStatus: "paid" } },
      { arrival: 10, kind: "applied", version: 4, derived: { paymentStatus: "partially_refunded" } },
      { arrival: 12, kind: "rejected", reason: "OVER_CAPTURE" },
    ]);
    expect(stillHeld).toEqual([]);
    expect(state.totals).toMatchObject({ capturedMinor: 100, refundedMinor: 5, version: 4 });
  });

  test("that cannot move stay, with the reason they have now", () => {
    const state = fold(LCID, [order]);
    const held = hold(captured("c-1", "a-1", 100), shipped("s-1", { L1: 1 }), reserved("r-1", "L1", 1));
    expect(redecide(state, held, { stopOnFailure: true })).toMatchObject({
      verdicts: [{ arrival: 12, kind: "applied" }],
      stillHeld: [
        { arrival: 10, reason: "AUTHORIZATION_NOT_SEEN" },
        { arrival: 11, reason: "PAYMENT_NOT_CONFIRMED" },
      ],
    });
  });

  test("may turn out to be repeats of each other", () => {
    const state = fold(LCID, [order]);
    const held = hold(sale("c-1", 100), sale("c-1", 100), sale("c-1", 99));
    expect(redecide(state, held, { stopOnFailure: true }).verdicts).toMatchObject([
      { arrival: 10, kind: "applied" },
      { arrival: 11, kind: "duplicate", of: { kind: "capture", ref: "c-1" } },
      { arrival: 12, kind: "rejected", reason: "REF_CONFLICT" },
    ]);
  });

  test("of nothing is nothing", () => {
    expect(redecide(emptyOrder(LCID), [], { stopOnFailure: true })).toEqual({ verdicts: [], stillHeld: [] });
  });

  describe("one of which makes the decision throw", () => {
    const poison = new Error("poison");
    const options = {
      decide: (view: OrderView, held: OrderEvent): Decision => {
        if (held.type === "payment.failed") throw poison;
        return decide(view, held);
      },
    };
    const held = hold(captured("c-1", "a-9", 1), sale("c-2", 5), failed("capture", "c-3"), sale("c-4", 7));

    test("fail alone where an order may go on", () => {
      const state = fold(LCID, [order]);
      const { verdicts, stillHeld } = redecide(state, held, {
        ...options,
        stopOnFailure: false,
      });
      expect(verdicts).toMatchObject([
        { arrival: 11, kind: "applied" },
        { arrival: 12, kind: "failed", error: poison },
        { arrival: 13, kind: "applied", version: 3 },
      ]);
      expect(stillHeld).toEqual([{ arrival: 10, reason: "AUTHORIZATION_NOT_SEEN" }]);
    });

    test("stop the order where poison halts it", () => {
      const state = fold(LCID, [order]);
      const { verdicts, stillHeld } = redecide(state, held, { ...options, stopOnFailure: true });
      expect(verdicts).toMatchObject([
        { arrival: 11, kind: "applied" },
        { arrival: 12, kind: "failed", error: poison },
      ]);
      expect(stillHeld).toEqual([{ arrival: 10, reason: "AUTHORIZATION_NOT_SEEN" }]);
      expect(state.totals.version).toBe(2);
    });
  });
});
