import { describe, expect, test } from "vitest";
import { Desk } from "./desk.ts";
import {
  authorized,
  cancelConfirmed,
  cancelled,
  cancelRequested,
  captured,
  changed,
  failed,
  line,
  placed,
  refunded,
  released,
  reserved,
  sale,
  shipped,
  short,
  voided,
} from "./events.ts";

// What really happened to somebody's orders, one test each.
describe("cases from the field", () => {
  test("1: two captures that each fit a stale total do not both go through", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 10)]), authorized("a-1", 1000));
    expect(desk.deliver(captured("c-1", "a-1", 600))).toBe("applied");
    expect(desk.deliver(captured("c-2", "a-1", 600))).toBe("rejected OVER_CAPTURE");
    expect(desk.state.totals.capturedMinor).toBe(600);
  });

  test("2: of two refunds of 60 on a capture of 100 only one is applied", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]), sale("c-1", 100));
    expect(desk.deliver(refunded("f-1", "c-1", 60))).toBe("applied");
    expect(desk.deliver(refunded("f-2", "c-1", 60))).toBe("rejected OVER_REFUND");
    expect(desk.state.totals.refundedMinor).toBe(60);
  });

  test("3: a late failure does not overwrite a payment", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]), authorized("a-1", 100), captured("c-1", "a-1", 100));
    expect(desk.deliver(failed("authorization", "a-1"))).toBe("rejected STALE_FAILURE");
    expect(desk.deliver(failed("authorization", "a-0"))).toBe("applied");
    expect(desk.derived.paymentStatus).toBe("paid");
    expect(desk.state.totals.paymentFailures).toBe(1);
  });

  test("4: one webhook delivered three times makes one settlement", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]), authorized("a-1", 100));
    const outcomes = ["evt-a", "evt-b", "evt-c"].map((id) => desk.deliverAs(id, captured("c-1", "a-1", 100)));
    expect(outcomes).toEqual(["applied", "duplicate", "duplicate"]);
    expect(desk.outboxVersions).toEqual([1, 2, 3]);
  });

  test("5: checkout and webhook report one capture under two ids", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]), authorized("a-1", 100));
    expect(desk.deliverAs("checkout-1", captured("c-1", "a-1", 100))).toBe("applied");
    expect(desk.deliverAs("webhook-1", captured("c-1", "a-1", 100))).toBe("duplicate");
    expect(desk.state.totals.capturedMinor).toBe(100);
  });

  test("6: captured arrives before authorized", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]));
    expect(desk.deliverAs("early", captured("c-1", "a-1", 100))).toBe("deferred AUTHORIZATION_NOT_SEEN");
    expect(desk.deliver(authorized("a-1", 100))).toBe("applied");
    expect(desk.outcomeOf("early")).toBe("applied");
    expect(desk.derived.paymentStatus).toBe("paid");
  });

  test("7: a late payment does not revive a refunded and cancelled order", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]), sale("c-1", 100), ...cancelled("k-1"), refunded("f-1", "c-1", 100));
    expect(desk.derived).toMatchObject({ status: "cancelled", paymentStatus: "refunded", refundDueMinor: 0 });
    expect(desk.deliver(sale("c-1", 100))).toBe("duplicate");
    expect(desk.deliver(sale("c-2", 100))).toBe("applied");
    expect(desk.derived).toMatchObject({
      status: "cancelled",
      paymentStatus: "refund_due",
      refundDueMinor: 100,
    });
  });

  test("8: a payment that succeeds after the cancel is owed back", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]), authorized("a-1", 100), ...cancelled("k-1"));
    expect(desk.deliver(captured("c-1", "a-1", 100))).toBe("applied");
    expect(desk.derived.refundDueMinor).toBe(100);
  });

  test("9: a cancel that arrives before its order is not lost", () => {
    const desk = new Desk();
    expect(desk.deliverAs("confirm", cancelConfirmed("k-1"))).toBe("deferred ORDER_NOT_FOUND");
    expect(desk.deliverAs("request", cancelRequested("k-1"))).toBe("deferred ORDER_NOT_FOUND");
    expect(desk.deliver(placed([line("L1", 1)]))).toBe("applied");
    expect([desk.outcomeOf("request"), desk.outcomeOf("confirm")]).toEqual(["applied", "applied"]);
    expect(desk.derived.status).toBe("cancelled");
  });

  test("10: an authorization that arrives before its order is not forgotten", () => {
    const desk = new Desk();
    expect(desk.deliverAs("early", authorized("a-1", 100))).toBe("deferred ORDER_NOT_FOUND");
    desk.deliver(placed([line("L1", 1)]));
    expect(desk.outcomeOf("early")).toBe("applied");
    expect(desk.derived.paymentStatus).toBe("authorized");
  });

  test("11: nothing is captured from a voided authorization", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]), authorized("a-1", 100), voided("v-1", "a-1", 100));
    expect(desk.deliver(captured("c-1", "a-1", 100))).toBe("rejected AUTHORIZATION_CLOSED");
  });

  test("12: refunds of 2 and 3 make 5", () => {
    const desk = new Desk();
    desk.deliver(
      placed([line("L1", 1)]),
      sale("c-1", 100),
      refunded("f-1", "c-1", 2),
      refunded("f-2", "c-1", 3),
    );
    expect(desk.state.totals.refundedMinor).toBe(5);
  });

  test("13: a second refund of one order is not taken for the first", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]), sale("c-1", 100));
    expect(desk.deliver(refunded("f-1", "c-1", 30))).toBe("applied");
    expect(desk.deliver(refunded("f-2", "c-1", 30))).toBe("applied");
    expect(desk.state.totals.refundedMinor).toBe(60);
  });

  test("14: a refunded and cancelled piece is not shipped", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 2)]), sale("c-1", 200), reserved("r-1", "L1", 2));
    desk.deliver(...cancelled("k-1", { L1: 1 }), refunded("f-1", "c-1", 100));
    expect(desk.deliver(shipped("s-1", { L1: 1 }))).toBe("applied");
    expect(desk.deliver(shipped("s-2", { L1: 1 }))).toBe("rejected LINE_CANCELLED");
  });

  test("15: a quantity is not lowered below what was shipped", () => {
    const desk = new Desk();
    desk.deliver(
      placed([line("L1", 5)]),
      sale("c-1", 500),
      reserved("r-1", "L1", 5),
      shipped("s-1", { L1: 4 }),
    );
    expect(desk.deliver(changed("ch-1", "L1", [5, 2]))).toBe("rejected BELOW_SHIPPED");
  });

  test("16: cancelling the only piece ships nothing and asks for its stock back", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]), reserved("r-1", "L1", 1), ...cancelled("k-1"));
    expect(desk.derived).toMatchObject({ status: "cancelled", fulfilmentStatus: "cancelled", releaseDue: 1 });
    expect(desk.state.line("L1")).toMatchObject({ shipped: 0 });
  });

  test("17: a cancel gives the stock back once", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]), reserved("r-1", "L1", 1), ...cancelled("k-1"));
    expect(desk.deliver(released("u-1", "r-1", 1))).toBe("applied");
    expect(desk.deliver(released("u-2", "r-1", 1))).toBe("rejected OVER_RELEASE");
    expect(desk.derived.releaseDue).toBe(0);
  });

  test("18: a capture that fails later closes the gate again", () => {
    const desk = new Desk();
    desk.deliver(
      placed([line("L1", 1)]),
      authorized("a-1", 100),
      captured("c-1", "a-1", 100),
      reserved("r-1", "L1", 1),
    );
    expect(desk.deliver(failed("capture", "c-1"))).toBe("applied");
    expect(desk.state.totals.capturedMinor).toBe(0);
    expect(desk.deliver(shipped("s-1", { L1: 1 }))).toBe("deferred PAYMENT_NOT_CONFIRMED");
  });

  test("19: of two orders for the last piece the short one cannot ship", () => {
    const [first, second] = [new Desk(), new Desk()];
    first.deliver(placed([line("L1", 1)]), sale("c-1", 100), reserved("r-1", "L1", 1));
    second.deliver(placed([line("L1", 1)]), sale("c-1", 100), short("h-1", "L1", 1));
    expect(first.deliver(shipped("s-1", { L1: 1 }))).toBe("applied");
    expect(second.deliver(shipped("s-1", { L1: 1 }))).toBe("deferred NOT_RESERVED");
    expect(second.derived.fulfilmentStatus).toBe("backordered");
  });

  test("20: a refund that the provider reports as failed is due again", () => {
    const desk = new Desk();
    desk.deliver(placed([line("L1", 1)]), sale("c-1", 100), ...cancelled("k-1"), refunded("f-1", "c-1", 100));
    expect(desk.derived.refundDueMinor).toBe(0);
    expect(desk.deliver(failed("refund", "f-1"))).toBe("applied");
    expect(desk.state.totals.refundedMinor).toBe(0);
    expect(desk.derived.refundDueMinor).toBe(100);
  });

  test("21: goods do not leave after the money was given back in full", () => {
    const desk = new Desk();
    desk.deliver(
      placed([line("L1", 1)]),
      sale("c-1", 100),
      reserved("r-1", "L1", 1),
      refunded("f-1", "c-1", 100),
    );
    expect(desk.deliver(shipped("s-1", { L1: 1 }))).toBe("deferred PAYMENT_NOT_CONFIRMED");
    expect(desk.state.line("L1")).toMatchObject({ shipped: 0 });
  });
});
