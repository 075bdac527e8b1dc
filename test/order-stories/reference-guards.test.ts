import { describe, expect, test } from "vitest";
import {
  added,
  authorized,
  cancelConfirmed,
  cancelRejected,
  cancelRequested,
  captured,
  changed,
  failed,
  placed,
  refunded,
  released,
  removed,
  reserved,
  shipped,
  short,
  tell,
  voided,
} from "./case-events.ts";

const tea = placed([
  { lineId: "L1", quantity: 2, unitAmount: 100 },
  { lineId: "L2", quantity: 1, unitAmount: 300 },
]);

describe("lines", () => {
  test("removal keeps what was cancelled, and an order is never emptied by an edit", () => {
    const { order, outcomes } = tell(
      tea,
      cancelRequested("x", ["L1", 1]),
      cancelConfirmed("x"),
      removed("e1", "L1", 2),
      removed("e2", "L2", 1),
    );
    expect(outcomes.slice(3)).toEqual(["applied", "deferred WOULD_EMPTY_ORDER"]);
    expect(order.lines[0]).toMatchObject({ quantity: 1, cancelled: 1, peak: 2 });
    expect(order.payableMinor).toBe(300);
  });

  test("an edit waits for the quantity it starts from", () => {
    const { order } = tell(tea, changed("e2", "L1", 3, 4), changed("e1", "L1", 2, 3));
    expect(order).toMatchObject({ version: 3, held: 0 });
    expect(order.lines[0]).toMatchObject({ quantity: 4, peak: 4 });
  });

  test("a quantity does not go below what was cancelled", () => {
    const { outcomes } = tell(
      placed([{ lineId: "L1", quantity: 5 }]),
      cancelRequested("x", ["L1", 3]),
      cancelConfirmed("x"),
      changed("e1", "L1", 5, 2),
      changed("e2", "L1", 5, 3),
    );
    expect(outcomes.slice(3)).toEqual(["rejected BELOW_CANCELLED", "deferred WOULD_EMPTY_ORDER"]);
  });

  test("totals stay in range", () => {
    const discounted = placed([{ lineId: "L1", quantity: 3, unitAmount: 100 }], { adjustment: -250 });
    expect(tell(discounted, changed("e", "L1", 3, 2)).outcomes.at(-1)).toBe("rejected TOTAL_OUT_OF_RANGE");
    const dear = placed([{ lineId: "L1", quantity: 9_999, unitAmount: 1e9 }]);
    expect(tell(dear).outcomes).toEqual(["rejected TOTAL_OUT_OF_RANGE"]);
    const many = placed(Array.from({ length: 200 }, (_, index) => ({ lineId: `L${index}`, quantity: 1 })));
    expect(tell(many, added("L200", 1)).outcomes).toEqual(["applied", "rejected TOTAL_OUT_OF_RANGE"]);
  });

  test("a discount does not stand in the way of cancelling everything", () => {
    const discounted = placed([{ lineId: "L1", quantity: 1, unitAmount: 100 }], { adjustment: -50 });
    expect(tell(discounted, cancelRequested("x"), cancelConfirmed("x")).order.status).toBe("cancelled");
  });
});

describe("payments", () => {
  test("what was reported failed first counts for nothing when it comes", () => {
    const { order } = tell(
      tea,
      failed("capture", "c"),
      failed("refund", "r"),
      captured("c", null, 500),
      captured("d", null, 500),
      refunded("r", "d", 500),
    );
    expect(order).toMatchObject({
      version: 6,
      capturedMinor: 500,
      refundedMinor: 0,
      authorizedMinor: 1_000,
      voidedMinor: 500,
    });
    expect(order.paymentStatus).toBe("paid");
  });

  test("a reversed capture frees its authorization again", () => {
    const { order, outcomes } = tell(
      tea,
      authorized("a", 500),
      captured("c1", "a", 500),
      failed("capture", "c1"),
      captured("c2", "a", 500),
      refunded("r1", "c1", 1),
      refunded("r2", "c2", 1),
      failed("capture", "c2"),
    );
    expect(outcomes.slice(4)).toEqual([
      "applied",
      "rejected CAPTURE_REVERSED",
      "applied",
      "rejected REVERSAL_AFTER_REFUND",
    ]);
    expect(order).toMatchObject({ capturedMinor: 500, refundedMinor: 1 });
  });

  test("voids and captures share what an authorization has", () => {
    const { outcomes } = tell(
      tea,
      authorized("a", 500),
      captured("c1", "a", 300),
      voided("v1", "a", 201),
      voided("v2", "a", 200),
      captured("c2", "a", 1),
      voided("v3", "b", 1),
    );
    expect(outcomes.slice(3)).toEqual([
      "rejected VOID_EXCEEDS_OPEN",
      "applied",
      "rejected AUTHORIZATION_CLOSED",
      "deferred AUTHORIZATION_NOT_SEEN",
    ]);
  });

  test("a sale's authorization has no name", () => {
    expect(tell(tea, captured("c", null, 500), voided("v", "c", 500)).outcomes.at(-1)).toBe(
      "deferred AUTHORIZATION_NOT_SEEN",
    );
  });

  test.each([
    ["unpaid", []],
    ["failed", [failed("authorization", "z")]],
    ["partially_authorized", [authorized("a", 499)]],
    ["authorized", [authorized("a", 500)]],
    ["voided", [authorized("a", 500), voided("v", "a", 500)]],
    ["partially_captured", [authorized("a", 500), captured("c", "a", 499)]],
    ["paid", [captured("c", null, 500)]],
    ["refund_due", [captured("c", null, 501)]],
    ["partially_refunded", [captured("c", null, 500), refunded("r", "c", 1)]],
    ["refunded", [captured("c", null, 500), refunded("r", "c", 500)]],
  ])("the payment status %s", (status, events) => {
    expect(tell(tea, ...events).order.paymentStatus).toBe(status);
  });
});

describe("stock", () => {
  test.each([
    ["unallocated", []],
    ["partially_allocated", [reserved("s", "L1", 1)]],
    ["allocated", [reserved("s1", "L1", 2), reserved("s2", "L2", 1)]],
    ["backordered", [reserved("s1", "L1", 2), short("m", "L2", 1)]],
    ["allocated", [reserved("s1", "L1", 2), short("m", "L2", 1), reserved("s2", "L2", 1, "m")]],
    ["allocated", [reserved("s1", "L1", 2), short("m", "L2", 1), reserved("s2", "L2", 1)]],
    ["partially_shipped", [captured("c", null, 500), reserved("s", "L1", 2), shipped("p", ["L1", 1])]],
    [
      "shipped",
      [
        captured("c", null, 500),
        reserved("s", "L1", 2),
        reserved("t", "L2", 1),
        shipped("p", ["L1", 2], ["L2", 1]),
      ],
    ],
  ])("the fulfilment status %s", (status, events) => {
    expect(tell(tea, ...events).order.fulfilmentStatus).toBe(status);
  });

  test("nothing is released below what was shipped until it comes back", () => {
    const { outcomes } = tell(
      tea,
      captured("c", null, 500),
      reserved("s", "L1", 2),
      shipped("p", ["L1", 2]),
      released("f", "s", 1),
      released("g", "none", 1),
    );
    expect(outcomes.slice(4)).toEqual(["deferred RELEASE_BELOW_SHIPPED", "deferred RESERVATION_NOT_SEEN"]);
  });

  test("what was never ordered waits, and is refused once the order is cancelled", () => {
    const events = [
      reserved("s1", "L1", 3),
      reserved("s2", "L9", 1),
      reserved("s3", "L1", 1, "none"),
      short("m", "L1", 3),
    ];
    expect(tell(tea, ...events).outcomes.slice(1)).toEqual([
      "deferred EXCEEDS_ORDERED",
      "deferred LINE_NOT_FOUND",
      "deferred SHORTAGE_NOT_SEEN",
      "deferred EXCEEDS_ORDERED",
    ]);
    expect(tell(tea, ...events, cancelRequested("x"), cancelConfirmed("x")).outcomes[1]).toBe(
      "rejected ORDER_CANCELLED",
    );
  });

  test("parts may ship as far as they are paid, adjustment first", () => {
    const withShipping = placed([{ lineId: "L1", quantity: 2, unitAmount: 100 }], { adjustment: 50 });
    const { outcomes } = tell(
      withShipping,
      reserved("s", "L1", 2),
      captured("c", null, 150),
      shipped("p1", ["L1", 1]),
      shipped("p2", ["L1", 1]),
    );
    expect(outcomes.slice(3)).toEqual(["applied", "deferred PAYMENT_NOT_CONFIRMED"]);
  });

  test("where a promise is enough, an open authorization lets goods leave", () => {
    const trusting = placed([{ lineId: "L1", quantity: 1, unitAmount: 100 }], { shipGate: "authorized" });
    const { order } = tell(trusting, reserved("s", "L1", 1), authorized("a", 100), shipped("p", ["L1", 1]));
    expect(order).toMatchObject({ status: "in_fulfilment", fulfilmentStatus: "shipped" });
  });

  test("the first item in the way decides, and all of a parcel waits", () => {
    const { order, outcomes } = tell(
      tea,
      captured("c", null, 500),
      reserved("s", "L1", 2),
      shipped("p1", ["L1", 1], ["L2", 1]),
      shipped("p2", ["L2", 2], ["L9", 1]),
    );
    expect(outcomes.slice(3)).toEqual(["deferred NOT_RESERVED", "deferred EXCEEDS_ORDERED"]);
    expect(order.lines.every((line) => line.shipped === 0)).toBe(true);
  });
});

describe("cancels", () => {
  test("a request is answered once", () => {
    const { outcomes } = tell(
      tea,
      cancelRequested("x"),
      cancelRejected("x"),
      cancelConfirmed("x"),
      cancelRejected("x"),
      cancelRejected("y"),
      cancelRequested("z", ["L9", 1]),
    );
    expect(outcomes.slice(2)).toEqual([
      "applied",
      "rejected CANCEL_CLOSED",
      "duplicate",
      "deferred CANCEL_NOT_REQUESTED",
      "deferred LINE_NOT_FOUND",
    ]);
  });

  test("what left cannot be cancelled", () => {
    const { order, outcomes } = tell(
      tea,
      captured("c", null, 500),
      reserved("s", "L1", 2),
      shipped("p", ["L1", 1]),
      cancelRequested("x"),
      cancelConfirmed("x"),
      cancelRequested("y", ["L1", 2]),
      cancelConfirmed("y"),
      cancelRequested("z", ["L1", 3]),
      cancelConfirmed("z"),
    );
    expect(outcomes[5]).toBe("rejected ALREADY_SHIPPED");
    expect(outcomes[7]).toBe("rejected ALREADY_SHIPPED");
    expect(outcomes[9]).toBe("deferred EXCEEDS_ORDERED");
    expect(order.status).toBe("in_fulfilment");
  });

  test("after one cancel of the whole order, another comes too late", () => {
    const { order, outcomes } = tell(
      tea,
      cancelRequested("x"),
      cancelRequested("y"),
      cancelConfirmed("x"),
      cancelConfirmed("y"),
      cancelRejected("y"),
      shipped("p", ["L1", 1]),
      changed("e", "L1", 2, 3),
    );
    expect(outcomes.slice(4)).toEqual([
      "rejected ALREADY_CANCELLED",
      "applied",
      "rejected ORDER_CANCELLED",
      "rejected ORDER_CANCELLED",
    ]);
    expect(order.lines.map(({ cancelled }) => cancelled)).toEqual([2, 1]);
  });

  test("an open request for the whole order shows until it is answered", () => {
    expect(tell(tea, cancelRequested("x")).order.status).toBe("cancel_requested");
    expect(tell(tea, cancelRequested("x"), cancelRejected("x")).order.status).toBe("placed");
  });
});
