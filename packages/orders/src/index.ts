/**
 * The order domain: what an event means, what it does to an order, and what a person reads off the result.
 *
 * For reading envelopes and payloads, keys and digests, decisions, derived statuses, folding a history and deciding held
 * events again. Everything here is pure, total and deterministic.
 *
 * Not for clocks, I/O, queues, locks, SQL or logging, and not for what only the store can know: whether an event was seen
 * before, whether an order is halted, when a held event has waited long enough.
 */
export {
  MAX_EVENT_BYTES,
  readEnvelope,
  readEnvelopeText,
  type EnvelopeReading,
  type EventEnvelope,
  type RuleBroken,
} from "./envelope.ts";
export { interpret, type Interpretation } from "./interpret.ts";
export { excerptOf } from "./excerpt.ts";
export { isLcid, LCID_RULE } from "./text-rules.ts";
export { requestOf, sameBody, type OrderRequest } from "./request.ts";
export { traceContextOf, type TraceContext } from "./trace-context.ts";
export {
  FAMILIES,
  familyOf,
  type CancelConfirmed,
  type CancelRejected,
  type CancelRequested,
  type FailureStage,
  type Family,
  type InventoryReleased,
  type InventoryReserved,
  type InventoryShipped,
  type InventoryShort,
  type LineAdded,
  type LineQuantity,
  type LineQuantityChanged,
  type LineRemoved,
  type OrderEvent,
  type OrderEventType,
  type OrderPlaced,
  type PaymentAuthorized,
  type PaymentCaptured,
  type PaymentFailed,
  type PaymentRefunded,
  type PaymentVoided,
  type PlacedLine,
  type ShipGate,
} from "./event.ts";
export type {
  CancelDetail,
  Line,
  OrderChange,
  OrderTotals,
  OrderView,
  Ref,
  RefKind,
  RefName,
} from "./order.ts";
export {
  isPaymentHold,
  raisesAlert,
  type Decision,
  type DeferReason,
  type DuplicateOf,
  type RejectReason,
} from "./decision.ts";
export { decide, referencesOf } from "./decide.ts";
export {
  derive,
  type Derived,
  type FulfilmentStatus,
  type OrderStatus,
  type PaymentStatus,
} from "./derive.ts";
export { emptyOrder, OrderState, type OrderRows } from "./state.ts";
export { fold, HistoryError } from "./fold.ts";
export { minorDigitsOf } from "./currencies.ts";
export { IncompleteViewError } from "./rules.ts";
export { redecide, type HeldEvent, type HeldVerdict, type Redecision, type RedecideOptions } from "./held.ts";
