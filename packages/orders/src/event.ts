/** One article row of an order, as the line service announces it. Amounts are minor units of the order's currency. */
export interface PlacedLine {
  readonly lineId: string;
  readonly sku: string;
  readonly quantity: number;
  readonly unitAmount: number;
}

export interface LineQuantity {
  readonly lineId: string;
  readonly quantity: number;
}

/** Which money must be there before goods leave: captured, or captured plus authorized. */
export type ShipGate = "captured" | "authorized";
export type FailureStage = "authorization" | "capture" | "refund";

interface EventOf<Type extends string, Data> {
  readonly type: Type;
  readonly lcid: string;
  readonly data: Readonly<Data>;
}

export type OrderPlaced = EventOf<
  "order.placed",
  { currency: string; adjustment: number; shipGate: ShipGate; lines: readonly PlacedLine[] }
>;
export type LineAdded = EventOf<"line.added", PlacedLine>;
export type LineQuantityChanged = EventOf<
  "line.quantity_changed",
  { changeId: string; lineId: string; fromQuantity: number; toQuantity: number }
>;
export type LineRemoved = EventOf<"line.removed", { changeId: string; lineId: string; fromQuantity: number }>;
export type PaymentAuthorized = EventOf<
  "payment.authorized",
  { authorizationId: string; amount: number; currency: string }
>;
/** A null authorizationId is a sale: authorization and capture in one step. */
export type PaymentCaptured = EventOf<
  "payment.captured",
  { captureId: string; authorizationId: string | null; amount: number; currency: string }
>;
export type PaymentVoided = EventOf<
  "payment.voided",
  { voidId: string; authorizationId: string; amount: number; reason: "voided" | "expired" }
>;
/** The amount is what this one refund gave back, never a running total. */
export type PaymentRefunded = EventOf<
  "payment.refunded",
  { refundId: string; captureId: string; amount: number; currency: string }
>;
export type PaymentFailed = EventOf<"payment.failed", { stage: FailureStage; ref: string; code: string }>;
/** shortageId names the shortage that this reservation fills; null when it fills none. */
export type InventoryReserved = EventOf<
  "inventory.reserved",
  { reservationId: string; lineId: string; quantity: number; shortageId: string | null }
>;
export type InventoryShort = EventOf<
  "inventory.short",
  { shortageId: string; lineId: string; quantity: number }
>;
export type InventoryReleased = EventOf<
  "inventory.released",
  { releaseId: string; reservationId: string; quantity: number; reason: string }
>;
export type InventoryShipped = EventOf<
  "inventory.shipped",
  { shipmentId: string; items: readonly LineQuantity[] }
>;
/** items is empty when the scope is the whole order. */
export type CancelRequested = EventOf<
  "cancel.requested",
  { cancelId: string; scope: "order" | "lines"; items: readonly LineQuantity[]; reason: string }
>;
export type CancelConfirmed = EventOf<"cancel.confirmed", { cancelId: string }>;
export type CancelRejected = EventOf<"cancel.rejected", { cancelId: string }>;

/** An event of a type and schema version that this build knows, reduced to the fields it knows. */
export type OrderEvent =
  | OrderPlaced
  | LineAdded
  | LineQuantityChanged
  | LineRemoved
  | PaymentAuthorized
  | PaymentCaptured
  | PaymentVoided
  | PaymentRefunded
  | PaymentFailed
  | InventoryReserved
  | InventoryShort
  | InventoryReleased
  | InventoryShipped
  | CancelRequested
  | CancelConfirmed
  | CancelRejected;

export type OrderEventType = OrderEvent["type"];

/** The queue an event travels in. */
export type Family = "payment" | "inventory" | "line-item" | "cancel";
export const FAMILIES: readonly Family[] = ["payment", "inventory", "line-item", "cancel"];

/** A type whose prefix nobody knows travels with the line items, so that it too has a queue and a place in its order's line. */
export function familyOf(type: string): Family {
  if (type.startsWith("payment.")) return "payment";
  if (type.startsWith("inventory.")) return "inventory";
  if (type.startsWith("cancel.")) return "cancel";
  return "line-item";
}
