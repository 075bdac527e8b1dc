import type { OrderView } from "./order.ts";

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

export function derive(_view: OrderView): Derived {
  throw new Error("not written yet");
}
