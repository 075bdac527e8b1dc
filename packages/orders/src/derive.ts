import type { OrderTotals, OrderView } from "./order.ts";
import { activeOf, allocatedOf, heldOf, openMinorOf } from "./quantities.ts";

export type OrderStatus =
  | "awaiting_placement"
  | "placed"
  | "confirmed"
  | "cancel_requested"
  | "in_fulfilment"
  | "completed"
  | "cancelled";
export type PaymentStatus =
  | "refund_due"
  | "refunded"
  | "partially_refunded"
  | "paid"
  | "partially_captured"
  | "authorized"
  | "partially_authorized"
  | "voided"
  | "failed"
  | "unpaid";
export type FulfilmentStatus =
  | "cancelled"
  | "shipped"
  | "partially_shipped"
  | "backordered"
  | "allocated"
  | "partially_allocated"
  | "unallocated";

/** Everything a person reads off an order. Amounts are minor units, releaseDue counts pieces. */
export interface Derived {
  readonly status: OrderStatus;
  readonly paymentStatus: PaymentStatus;
  readonly fulfilmentStatus: FulfilmentStatus;
  /** What the customer owes for what is still active. */
  readonly payableMinor: number;
  /** What must be given back. */
  readonly refundDueMinor: number;
  /** What must be voided of the open authorizations. */
  readonly voidDueMinor: number;
  /** Reserved pieces that nobody needs any more. */
  readonly releaseDue: number;
  /** Authorized, neither captured nor voided. */
  readonly openMinor: number;
}

interface LineSums {
  readonly active: number;
  readonly shipped: number;
  readonly allocated: number;
  readonly releaseDue: number;
  readonly totalMinor: number;
  /** Some line waits for stock that the warehouse said it does not have. */
  readonly isShort: boolean;
}

interface Money {
  readonly payableMinor: number;
  readonly refundDueMinor: number;
  readonly voidDueMinor: number;
  readonly openMinor: number;
}

/** Reads statuses and obligations off the quantities and amounts. Nothing else decides a status anywhere. */
export function derive(view: OrderView): Derived {
  const { totals } = view;
  const lines = sumLines(view);
  const money = weighMoney(totals, lines.totalMinor);
  return {
    status: statusOf(totals, lines, money),
    paymentStatus: paymentStatusOf(totals, money),
    fulfilmentStatus: fulfilmentStatusOf(totals, lines),
    ...money,
    releaseDue: lines.releaseDue,
  };
}

function sumLines(view: OrderView): LineSums {
  let active = 0;
  let shipped = 0;
  let allocated = 0;
  let releaseDue = 0;
  let totalMinor = view.totals.adjustmentMinor;
  let isShort = false;
  for (const line of view.lines()) {
    const activeOfLine = activeOf(line);
    const allocatedOfLine = allocatedOf(line);
    active += activeOfLine;
    shipped += line.shipped;
    allocated += allocatedOfLine;
    releaseDue += heldOf(line) - allocatedOfLine;
    totalMinor += activeOfLine * line.unitAmountMinor;
    if (line.shortOpen > 0 && allocatedOfLine < activeOfLine) isShort = true;
  }
  return { active, shipped, allocated, releaseDue, totalMinor, isShort };
}

function weighMoney(totals: OrderTotals, totalMinor: number): Money {
  const payableMinor = totals.cancelled ? 0 : Math.max(0, totalMinor);
  const openMinor = openMinorOf(totals);
  const uncapturedMinor = Math.max(0, payableMinor - totals.capturedMinor);
  return {
    payableMinor,
    refundDueMinor: Math.max(0, totals.capturedMinor - totals.refundedMinor - payableMinor),
    voidDueMinor: Math.max(0, openMinor - uncapturedMinor),
    openMinor,
  };
}

function statusOf(totals: OrderTotals, lines: LineSums, money: Money): OrderStatus {
  if (!totals.placed) return "awaiting_placement";
  if (totals.cancelled) return "cancelled";
  const isPaid = totals.capturedMinor >= money.payableMinor;
  if (lines.shipped === lines.active && isPaid && money.refundDueMinor === 0) return "completed";
  if (lines.shipped > 0) return "in_fulfilment";
  if (totals.openCancels > 0) return "cancel_requested";
  return isPaid ? "confirmed" : "placed";
}

function paymentStatusOf(totals: OrderTotals, money: Money): PaymentStatus {
  // Before placement nothing is known to be payable, which must not read as "paid".
  if (!totals.placed) return "unpaid";
  const { capturedMinor, refundedMinor } = totals;
  if (money.refundDueMinor > 0) return "refund_due";
  if (capturedMinor > 0 && refundedMinor === capturedMinor) return "refunded";
  if (refundedMinor > 0) return "partially_refunded";
  if (!totals.cancelled && capturedMinor >= money.payableMinor) return "paid";
  if (capturedMinor > 0) return "partially_captured";
  if (money.openMinor > 0) {
    return money.openMinor >= money.payableMinor ? "authorized" : "partially_authorized";
  }
  if (totals.authorizedMinor > 0) return "voided";
  return totals.paymentFailures > 0 ? "failed" : "unpaid";
}

function fulfilmentStatusOf(totals: OrderTotals, lines: LineSums): FulfilmentStatus {
  if (!totals.placed) return "unallocated";
  if (totals.cancelled) return "cancelled";
  if (lines.shipped === lines.active) return "shipped";
  if (lines.shipped > 0) return "partially_shipped";
  if (lines.isShort) return "backordered";
  if (lines.allocated === lines.active) return "allocated";
  return lines.allocated > 0 ? "partially_allocated" : "unallocated";
}
