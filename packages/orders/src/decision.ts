import type { OrderChange, RefName } from "./order.ts";

/** Final: waiting would not make this event right. */
export type RejectReason =
  | "REF_CONFLICT"
  | "CURRENCY_MISMATCH"
  | "TOTAL_OUT_OF_RANGE"
  | "ORDER_CANCELLED"
  | "BELOW_SHIPPED"
  | "BELOW_CANCELLED"
  | "AUTHORIZATION_CLOSED"
  | "OVER_CAPTURE"
  | "VOID_EXCEEDS_OPEN"
  | "CAPTURE_REVERSED"
  | "OVER_REFUND"
  | "STALE_FAILURE"
  | "REVERSAL_AFTER_REFUND"
  | "OVER_RELEASE"
  | "LINE_CANCELLED"
  | "CANCEL_CLOSED"
  | "ALREADY_SHIPPED"
  | "ALREADY_CANCELLED";

/** Too early: something that this event builds on has not been applied yet. */
export type DeferReason =
  | "ORDER_NOT_FOUND"
  | "LINE_NOT_FOUND"
  | "LINE_PRECONDITION"
  | "WOULD_EMPTY_ORDER"
  | "AUTHORIZATION_NOT_SEEN"
  | "CAPTURE_NOT_SEEN"
  | "SHORTAGE_NOT_SEEN"
  | "EXCEEDS_ORDERED"
  | "RESERVATION_NOT_SEEN"
  | "RELEASE_BELOW_SHIPPED"
  | "NOT_RESERVED"
  | "PAYMENT_NOT_CONFIRMED"
  | "CANCEL_NOT_REQUESTED";

/** Lines are named by lineId and have no Ref of their own. */
export type DuplicateOf = RefName | { readonly kind: "line"; readonly ref: string };

export type Decision =
  | { readonly kind: "applied"; readonly change: OrderChange }
  | { readonly kind: "duplicate"; readonly of: DuplicateOf }
  | { readonly kind: "rejected"; readonly reason: RejectReason }
  | { readonly kind: "deferred"; readonly reason: DeferReason };

/** Whether a held event waits for money, which may take longer to arrive than stock or lines do. */
export function isPaymentHold(reason: DeferReason): boolean {
  return (
    reason === "AUTHORIZATION_NOT_SEEN" || reason === "CAPTURE_NOT_SEEN" || reason === "PAYMENT_NOT_CONFIRMED"
  );
}

/**
 * Whether a rejection tells of something that happened in the world all the same: a parcel left, or more was captured than
 * authorized. The reason may be one of the store's own (a timeout, a limit), hence a string.
 */
export function raisesAlert(type: string, reason: string): boolean {
  if (reason === "OVER_CAPTURE") return true;
  return type === "inventory.shipped" && reason !== "INVALID_PAYLOAD" && reason !== "REF_CONFLICT";
}
