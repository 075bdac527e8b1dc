import { describe, expect, test } from "vitest";
import {
  authorized,
  cancelConfirmed,
  cancelRequested,
  captured,
  changed,
  failed,
  placed,
  refunded,
  released,
  reserved,
  shipped,
  short,
  tell,
  voided,
} from "./case-events.ts";

/** What happened to other people, by number of the specification's list; the reference must tell each of them right. */
describe("the reference, on cases from the field", () => {
  const twoOfTea = placed([{ lineId: "L1", quantity: 2 }]);

  test("1: of two captures that both look possible, the second is over", () => {
    const { order, outcomes } = tell(
      twoOfTea,
      authorized("a", 200),
      captured("c1", "a", 200),
      captured("c2", "a", 200),
    );
    expect(outcomes.at(-1)).toBe("rejected OVER_CAPTURE");
    expect(order).toMatchObject({ capturedMinor: 200, paymentStatus: "paid" });
  });

  test("2: of two refunds of 60 from 100, one goes through", () => {
    const { order, outcomes } = tell(
      twoOfTea,
      captured("c", null, 100),
      refunded("r1", "c", 60),
      refunded("r2", "c", 60),
    );
    expect(outcomes.slice(2)).toEqual(["applied", "rejected OVER_REFUND"]);
    expect(order.refundedMinor).toBe(60);
  });

  test("3: a late failure does not overwrite paid", () => {
    const { order, outcomes } = tell(
      twoOfTea,
      authorized("a", 200),
      captured("c", "a", 200),
      failed("authorization", "a"),
      failed("authorization", "other"),
    );
    expect(outcomes.slice(3)).toEqual(["rejected STALE_FAILURE", "applied"]);
    expect(order.paymentStatus).toBe("paid");
  });

  test("4: one event delivered three times counts once", () => {
    const paid = captured("c", null, 200);
    const { order } = tell(twoOfTea, paid, paid, { ...paid });
    expect(order).toMatchObject({ capturedMinor: 200, version: 2, repeats: 2, conflicts: [] });
  });

  test("5: one capture under two event ids counts once", () => {
    const { order, outcomes } = tell(twoOfTea, captured("c", null, 200), captured("c", null, 200));
    expect(outcomes).toEqual(["applied", "applied", "duplicate"]);
    expect(order.capturedMinor).toBe(200);
  });

  test("6: a capture before its authorization waits for it", () => {
    const capture = captured("c", "a", 200);
    expect(tell(twoOfTea, capture)).toMatchObject({
      outcomes: ["applied", "deferred AUTHORIZATION_NOT_SEEN"],
    });
    const { order } = tell(twoOfTea, capture, authorized("a", 200));
    expect(order).toMatchObject({ version: 3, held: 0, capturedMinor: 200, status: "confirmed" });
    expect([...order.outcomes.values()].map(({ version }) => version)).toEqual([1, 3, 2]);
  });

  test("7: a late payment does not revive a cancelled order", () => {
    const { order, outcomes } = tell(
      twoOfTea,
      captured("c1", null, 200),
      cancelRequested("x"),
      cancelConfirmed("x"),
      refunded("r", "c1", 200),
      captured("c1", null, 200),
      captured("c2", null, 200),
    );
    expect(outcomes.slice(5)).toEqual(["duplicate", "applied"]);
    expect(order).toMatchObject({ status: "cancelled", refundDueMinor: 200, paymentStatus: "refund_due" });
  });

  test("8: a payment that succeeds after the cancel is due back", () => {
    const { order } = tell(
      twoOfTea,
      authorized("a", 200),
      cancelRequested("x"),
      cancelConfirmed("x"),
      captured("c", "a", 200),
    );
    expect(order).toMatchObject({ status: "cancelled", refundDueMinor: 200, payableMinor: 0 });
  });

  test("9: a cancel before the order exists is not lost", () => {
    const early = [cancelRequested("x"), cancelConfirmed("x")];
    expect(tell(...early)).toMatchObject({
      outcomes: ["deferred ORDER_NOT_FOUND", "deferred ORDER_NOT_FOUND"],
      order: { status: "awaiting_placement", version: 0, held: 2 },
    });
    expect(tell(...early, twoOfTea).order).toMatchObject({ status: "cancelled", version: 3, held: 0 });
  });

  test("10: an authorization before the order is kept", () => {
    const { order } = tell(authorized("a", 200), twoOfTea);
    expect(order).toMatchObject({ authorizedMinor: 200, paymentStatus: "authorized", version: 2 });
  });

  test("11: nothing is captured from a voided authorization", () => {
    const { outcomes } = tell(twoOfTea, authorized("a", 200), voided("v", "a", 200), captured("c", "a", 200));
    expect(outcomes.at(-1)).toBe("rejected AUTHORIZATION_CLOSED");
  });

  test("12 and 13: refunds add up, each by itself", () => {
    const { order, outcomes } = tell(
      twoOfTea,
      captured("c", null, 200),
      refunded("r1", "c", 2),
      refunded("r2", "c", 3),
    );
    expect(outcomes.slice(2)).toEqual(["applied", "applied"]);
    expect(order.refundedMinor).toBe(5);
  });

  test("14: the unit that was cancelled cannot be shipped", () => {
    const { order, outcomes } = tell(
      twoOfTea,
      captured("c", null, 200),
      reserved("s", "L1", 2),
      cancelRequested("x", ["L1", 1]),
      cancelConfirmed("x"),
      refunded("r", "c", 100),
      shipped("p1", ["L1", 1]),
      shipped("p2", ["L1", 1]),
    );
    expect(outcomes.slice(-2)).toEqual(["applied", "rejected LINE_CANCELLED"]);
    expect(order).toMatchObject({ releaseDue: 1, status: "completed" });
  });

  test("15: a quantity does not go below what was shipped", () => {
    const { outcomes } = tell(
      placed([{ lineId: "L1", quantity: 5 }]),
      captured("c", null, 500),
      reserved("s", "L1", 5),
      shipped("p", ["L1", 4]),
      changed("e", "L1", 5, 2),
    );
    expect(outcomes.at(-1)).toBe("rejected BELOW_SHIPPED");
  });

  test("16: cancelling the only item cancels the order and frees its stock", () => {
    const { order } = tell(
      placed([{ lineId: "L1", quantity: 1 }]),
      reserved("s", "L1", 1),
      cancelRequested("x"),
      cancelConfirmed("x"),
    );
    expect(order).toMatchObject({ status: "cancelled", fulfilmentStatus: "cancelled", releaseDue: 1 });
  });

  test("17: stock is given back once", () => {
    const { outcomes } = tell(
      twoOfTea,
      reserved("s", "L1", 2),
      released("f1", "s", 2),
      released("f2", "s", 2),
    );
    expect(outcomes.at(-1)).toBe("rejected OVER_RELEASE");
  });

  test("18: a capture the provider takes back closes the gate", () => {
    const { order, outcomes } = tell(
      twoOfTea,
      captured("c", null, 200),
      reserved("s", "L1", 2),
      failed("capture", "c"),
      shipped("p", ["L1", 2]),
    );
    expect(outcomes.at(-1)).toBe("deferred PAYMENT_NOT_CONFIRMED");
    expect(order).toMatchObject({
      capturedMinor: 0,
      authorizedMinor: 200,
      voidedMinor: 200,
      voidDueMinor: 0,
    });
  });

  test("19: the order that came too late for the last unit cannot ship", () => {
    const { order, outcomes } = tell(
      placed([{ lineId: "L1", quantity: 1 }]),
      captured("c", null, 100),
      short("m", "L1", 1),
      shipped("p", ["L1", 1]),
    );
    expect(outcomes.at(-1)).toBe("deferred NOT_RESERVED");
    expect(order.fulfilmentStatus).toBe("backordered");
  });

  test("20: a refund that fails is due again", () => {
    const { order } = tell(
      placed([
        { lineId: "L1", quantity: 1 },
        { lineId: "L2", quantity: 1 },
      ]),
      captured("c", null, 200),
      cancelRequested("x", ["L2", 1]),
      cancelConfirmed("x"),
      refunded("r", "c", 100),
      failed("refund", "r"),
    );
    expect(order).toMatchObject({ refundedMinor: 0, refundDueMinor: 100, paymentStatus: "refund_due" });
  });

  test("21: nothing leaves after all the money was given back", () => {
    const { outcomes } = tell(
      twoOfTea,
      captured("c", null, 200),
      reserved("s", "L1", 2),
      refunded("r", "c", 200),
      shipped("p", ["L1", 2]),
    );
    expect(outcomes.at(-1)).toBe("deferred PAYMENT_NOT_CONFIRMED");
  });
});
