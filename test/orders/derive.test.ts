import { derive, OrderState } from "@junban/orders";
import type { Derived, Line, OrderTotals } from "@junban/orders";
import { describe, expect, test } from "vitest";

const TOTALS: OrderTotals = {
  lcid: "A-1001",
  placed: true,
  cancelled: false,
  currency: "JPY",
  shipGate: "captured",
  adjustmentMinor: 0,
  authorizedMinor: 0,
  capturedMinor: 0,
  voidedMinor: 0,
  refundedMinor: 0,
  openCancels: 0,
  paymentFailures: 0,
  version: 1,
};

const LINE: Line = {
  lineId: "L1",
  sku: "SKU-1",
  unitAmountMinor: 100,
  addedQuantity: 10,
  quantity: 10,
  peak: 10,
  cancelled: 0,
  reserved: 0,
  released: 0,
  shipped: 0,
  shortOpen: 0,
};

function derived(totals: Partial<OrderTotals>, lines: readonly Partial<Line>[] = [{}]): Derived {
  return derive(
    new OrderState({
      totals: { ...TOTALS, ...totals },
      lines: lines.map((line, index) => ({ ...LINE, lineId: `L${index + 1}`, ...line })),
      refs: [],
    }),
  );
}

describe("the payment status of an order of 1000", () => {
  test.each<[string, Partial<OrderTotals>]>([
    ["unpaid", {}],
    ["failed", { paymentFailures: 1 }],
    ["partially_authorized", { authorizedMinor: 999 }],
    ["partially_authorized", { authorizedMinor: 999, paymentFailures: 1 }],
    ["authorized", { authorizedMinor: 1000 }],
    ["authorized", { authorizedMinor: 2000 }],
    ["partially_authorized", { authorizedMinor: 1000, voidedMinor: 1 }],
    ["voided", { authorizedMinor: 1000, voidedMinor: 1000 }],
    ["voided", { authorizedMinor: 1000, voidedMinor: 1000, paymentFailures: 3 }],
    ["partially_captured", { authorizedMinor: 1000, capturedMinor: 1 }],
    ["partially_captured", { authorizedMinor: 1000, capturedMinor: 999, voidedMinor: 1 }],
    ["paid", { authorizedMinor: 1000, capturedMinor: 1000 }],
    ["refund_due", { authorizedMinor: 1001, capturedMinor: 1001 }],
    ["partially_refunded", { authorizedMinor: 1001, capturedMinor: 1001, refundedMinor: 1 }],
    ["partially_refunded", { authorizedMinor: 500, capturedMinor: 500, refundedMinor: 1 }],
    ["refunded", { authorizedMinor: 1000, capturedMinor: 1000, refundedMinor: 1000 }],
    ["refund_due", { cancelled: true, authorizedMinor: 1000, capturedMinor: 1000, refundedMinor: 999 }],
    ["refunded", { cancelled: true, authorizedMinor: 1000, capturedMinor: 1000, refundedMinor: 1000 }],
    ["unpaid", { cancelled: true }],
    ["failed", { cancelled: true, paymentFailures: 1 }],
    ["authorized", { cancelled: true, authorizedMinor: 1 }],
    ["voided", { cancelled: true, authorizedMinor: 1, voidedMinor: 1 }],
  ])("is %s with %j", (paymentStatus, totals) => {
    const lines = totals.cancelled === true ? [{ cancelled: 10 }] : [{}];
    expect(derived(totals, lines).paymentStatus).toBe(paymentStatus);
  });

  test("is paid when nothing is payable", () => {
    expect(derived({ adjustmentMinor: -1000 }).paymentStatus).toBe("paid");
  });
});

describe("the fulfilment status of two lines of 10", () => {
  test.each<[string, Partial<Line>, Partial<Line>]>([
    ["unallocated", {}, {}],
    ["partially_allocated", { reserved: 1 }, {}],
    ["partially_allocated", { reserved: 10 }, { reserved: 9 }],
    ["partially_allocated", { reserved: 20 }, {}],
    ["allocated", { reserved: 10 }, { reserved: 12 }],
    ["unallocated", { reserved: 10, released: 10 }, {}],
    ["allocated", { reserved: 10, cancelled: 4 }, { reserved: 10 }],
    ["backordered", { shortOpen: 1 }, {}],
    ["backordered", { reserved: 9, shortOpen: 1 }, { reserved: 10 }],
    ["partially_allocated", { reserved: 10, shortOpen: 1 }, {}],
    ["allocated", { reserved: 10, shortOpen: 1 }, { reserved: 10 }],
    ["partially_shipped", { reserved: 10, shipped: 1 }, { shortOpen: 1 }],
    ["partially_shipped", { reserved: 10, shipped: 10 }, { reserved: 10, shipped: 9 }],
    ["shipped", { reserved: 10, shipped: 10 }, { reserved: 10, shipped: 10 }],
    ["shipped", { reserved: 10, shipped: 10 }, { cancelled: 10 }],
    ["shipped", { reserved: 10, shipped: 10 }, { quantity: 0 }],
  ])("is %s with %j and %j", (fulfilmentStatus, first, second) => {
    expect(derived({}, [first, second]).fulfilmentStatus).toBe(fulfilmentStatus);
  });

  test("is cancelled whatever is reserved", () => {
    expect(derived({ cancelled: true }, [{ cancelled: 10, reserved: 10, shortOpen: 2 }])).toMatchObject({
      fulfilmentStatus: "cancelled",
      releaseDue: 10,
    });
  });
});

describe("the status of an order of 1000", () => {
  const paid: Partial<OrderTotals> = { authorizedMinor: 1000, capturedMinor: 1000 };
  const shipped: Partial<Line> = { reserved: 10, shipped: 10 };

  test.each<[string, Partial<OrderTotals>, Partial<Line>]>([
    ["awaiting_placement", { placed: false }, {}],
    ["placed", {}, {}],
    ["placed", { authorizedMinor: 1000 }, { reserved: 10 }],
    ["confirmed", paid, {}],
    ["cancel_requested", { openCancels: 1 }, {}],
    ["cancel_requested", { ...paid, openCancels: 1 }, {}],
    ["in_fulfilment", { ...paid, openCancels: 1 }, { reserved: 10, shipped: 1 }],
    ["in_fulfilment", { authorizedMinor: 1000 }, shipped],
    ["in_fulfilment", { authorizedMinor: 1001, capturedMinor: 1001 }, shipped],
    ["completed", { authorizedMinor: 1001, capturedMinor: 1001, refundedMinor: 1 }, shipped],
    ["completed", paid, shipped],
    ["completed", { ...paid, openCancels: 1 }, shipped],
    ["completed", { ...paid, refundedMinor: 1000 }, shipped],
    ["cancelled", { ...paid, cancelled: true }, { cancelled: 10 }],
  ])("is %s with %j and %j", (status, totals, line) => {
    expect(derived(totals, [line]).status).toBe(status);
  });
});

describe("obligations", () => {
  test("before placement there are none, and nothing reads as done", () => {
    expect(derived({ placed: false, currency: null, shipGate: null }, [])).toEqual({
      status: "awaiting_placement",
      paymentStatus: "unpaid",
      fulfilmentStatus: "unallocated",
      payableMinor: 0,
      refundDueMinor: 0,
      voidDueMinor: 0,
      releaseDue: 0,
      openMinor: 0,
    });
  });

  test.each<[string, Partial<OrderTotals>, readonly Partial<Line>[], Partial<Derived>]>([
    [
      "an order costs its active pieces and its adjustment",
      { adjustmentMinor: 50 },
      [{ cancelled: 4 }, {}],
      { payableMinor: 1650 },
    ],
    ["a discount never makes it negative", { adjustmentMinor: -2000 }, [{}], { payableMinor: 0 }],
    [
      "a cancelled order costs nothing",
      { cancelled: true, adjustmentMinor: 50 },
      [{ cancelled: 10 }],
      { payableMinor: 0 },
    ],
    [
      "what is captured and neither kept nor refunded goes back",
      { authorizedMinor: 1500, capturedMinor: 1500, refundedMinor: 200 },
      [{}],
      { refundDueMinor: 300 },
    ],
    [
      "a refund that was not owed is not owed back",
      { authorizedMinor: 1000, capturedMinor: 1000, refundedMinor: 200 },
      [{}],
      { refundDueMinor: 0 },
    ],
    [
      "what is open and still needed stays open",
      { authorizedMinor: 1000, capturedMinor: 400 },
      [{}],
      { openMinor: 600, voidDueMinor: 0 },
    ],
    [
      "what is open beyond need is voided",
      { authorizedMinor: 1500, capturedMinor: 400 },
      [{}],
      { openMinor: 1100, voidDueMinor: 500 },
    ],
    [
      "over-captured, everything open is voided",
      { authorizedMinor: 1500, capturedMinor: 1200 },
      [{}],
      { openMinor: 300, voidDueMinor: 300 },
    ],
    [
      "stock nobody needs is released, line by line",
      {},
      [{ reserved: 12, released: 1 }, { reserved: 3 }, { cancelled: 10, reserved: 2 }],
      { releaseDue: 3 },
    ],
  ])("%s", (_name, totals, lines, expected) => {
    expect(derived(totals, lines)).toMatchObject(expected);
  });
});
