import type { OrderEvent, OrderEventType } from "@junban/orders";
import { type EventOfType, type Ledger, businessKeyOf } from "./ledger.ts";
import {
  activeOf,
  activeTotal,
  authorized,
  cancelledOf,
  captured,
  costOf,
  heldOf,
  open,
  openOf,
  peakOf,
  quantityOf,
  refunded,
  refundedOf,
  releasedFrom,
  requestIsOpen,
  shippedOf,
  shippedTotal,
  total,
  voided,
  voidedOf,
} from "./questions.ts";

export type Verdict =
  | { kind: "applied"; after: Ledger }
  | { kind: "duplicate" }
  | { kind: "rejected"; reason: string }
  | { kind: "deferred"; reason: string };

/** What speaks against an event: `D` may change with time, `R` is final, null is nothing. */
type Objection = `${"D" | "R"} ${string}` | null;
type Objections = {
  readonly [Type in OrderEventType]: (ledger: Ledger, data: EventOfType<Type>["data"]) => Objection;
};

const MOST_LINES = 200;
const MOST_TOTAL = 1e12;

/** Whether this event can join the facts of this order now. */
export function judge(ledger: Ledger, fact: OrderEvent): Verdict {
  const earlier = ledger.under(businessKeyOf(fact));
  if (earlier !== undefined) {
    return sameFact(earlier, fact) ? { kind: "duplicate" } : { kind: "rejected", reason: "REF_CONFLICT" };
  }
  const objection = firstObjection(ledger, fact);
  if (objection !== null) return verdictOf(objection);
  const after = ledger.plus(fact);
  const consequence = objectionTo(after, fact);
  return consequence === null ? { kind: "applied", after } : verdictOf(consequence);
}

function verdictOf(objection: `${"D" | "R"} ${string}`): Verdict {
  return { kind: objection.startsWith("D") ? "deferred" : "rejected", reason: objection.slice(2) };
}

function sameFact(one: OrderEvent, other: OrderEvent): boolean {
  return JSON.stringify([one.type, one.data]) === JSON.stringify([other.type, other.data]);
}

function firstObjection(ledger: Ledger, fact: OrderEvent): Objection {
  const { placement } = ledger;
  if (fact.type === "order.placed") return null;
  if (placement === undefined) return "D ORDER_NOT_FOUND";
  if ("currency" in fact.data && fact.data.currency !== placement.data.currency) return "R CURRENCY_MISMATCH";
  const object = objections[fact.type] as (ledger: Ledger, data: OrderEvent["data"]) => Objection;
  return object(ledger, fact.data);
}

/** Objections that show only once one looks at the order as it would be. */
function objectionTo(after: Ledger, fact: OrderEvent): Objection {
  if (fact.type === "inventory.released") {
    const lineId = after.reservation(fact.data.reservationId)?.data.lineId ?? "";
    return heldOf(after, lineId) < shippedOf(after, lineId) ? "D RELEASE_BELOW_SHIPPED" : null;
  }
  if (fact.type.startsWith("payment.")) {
    const sums = [authorized(after), captured(after), voided(after), refunded(after)];
    return sums.every(Number.isSafeInteger) ? null : "R TOTAL_OUT_OF_RANGE";
  }
  if (fact.type.startsWith("inventory.")) return null;
  if (!after.cancelled && activeTotal(after) === 0) return "D WOULD_EMPTY_ORDER";
  const inRange = total(after) >= 0 && total(after) <= MOST_TOTAL && after.lineIds.length <= MOST_LINES;
  return inRange ? null : "R TOTAL_OUT_OF_RANGE";
}

const objections: Objections = {
  "order.placed": () => null,
  "line.added": (ledger) => (ledger.cancelled ? "R ORDER_CANCELLED" : null),
  "line.quantity_changed": (ledger, data) => editObjection(ledger, data, data.toQuantity),
  "line.removed": (ledger, data) => editObjection(ledger, data, cancelledOf(ledger, data.lineId)),
  "payment.authorized": () => null,
  "payment.captured": captureObjection,
  "payment.voided": (ledger, data) => {
    const authorization = authorizationUnder(ledger, data.authorizationId);
    if (authorization === undefined) return "D AUTHORIZATION_NOT_SEEN";
    return data.amount > openOf(ledger, authorization) ? "R VOID_EXCEEDS_OPEN" : null;
  },
  "payment.refunded": (ledger, data) => {
    const capture = ledger.under(`capture ${data.captureId}`) as EventOfType<"payment.captured"> | undefined;
    if (capture === undefined) return "D CAPTURE_NOT_SEEN";
    if (ledger.failed("capture").has(data.captureId)) return "R CAPTURE_REVERSED";
    return data.amount > capture.data.amount - refundedOf(ledger, data.captureId) ? "R OVER_REFUND" : null;
  },
  "payment.failed": (ledger, { stage, ref }) => {
    if (ledger.under(`${stage} ${ref}`) === undefined) return null;
    if (stage === "authorization") return "R STALE_FAILURE";
    return stage === "capture" && refundedOf(ledger, ref) > 0 ? "R REVERSAL_AFTER_REFUND" : null;
  },
  "inventory.reserved": (ledger, { lineId, quantity, shortageId }) => {
    if (ledger.line(lineId) === undefined) return "D LINE_NOT_FOUND";
    const fills = shortageId === null || ledger.under(`shortage ${shortageId}`) !== undefined;
    if (!fills) return "D SHORTAGE_NOT_SEEN";
    if (quantity <= peakOf(ledger, lineId)) return null;
    return ledger.cancelled ? "R ORDER_CANCELLED" : "D EXCEEDS_ORDERED";
  },
  "inventory.short": (ledger, { lineId, quantity }) => {
    if (ledger.line(lineId) === undefined) return "D LINE_NOT_FOUND";
    return quantity > peakOf(ledger, lineId) ? "D EXCEEDS_ORDERED" : null;
  },
  "inventory.released": (ledger, { reservationId, quantity }) => {
    const reservation = ledger.reservation(reservationId);
    if (reservation === undefined) return "D RESERVATION_NOT_SEEN";
    return quantity > reservation.data.quantity - releasedFrom(ledger, reservationId)
      ? "R OVER_RELEASE"
      : null;
  },
  "inventory.shipped": shipmentObjection,
  "cancel.requested": (ledger, { items }) =>
    items.every(({ lineId }) => ledger.line(lineId) !== undefined) ? null : "D LINE_NOT_FOUND",
  "cancel.confirmed": confirmObjection,
  "cancel.rejected": (ledger, { cancelId }) => closingObjection(ledger, cancelId),
};

function authorizationUnder(
  ledger: Ledger,
  authorizationId: string,
): EventOfType<"payment.authorized">["data"] | undefined {
  const fact = ledger.under(`authorization ${authorizationId}`) as
    | EventOfType<"payment.authorized">
    | undefined;
  return fact?.data;
}

function editObjection(
  ledger: Ledger,
  edit: { lineId: string; fromQuantity: number },
  quantity: number,
): Objection {
  const { lineId, fromQuantity } = edit;
  if (ledger.cancelled) return "R ORDER_CANCELLED";
  if (ledger.line(lineId) === undefined) return "D LINE_NOT_FOUND";
  if (fromQuantity !== quantityOf(ledger, lineId)) return "D LINE_PRECONDITION";
  const shipped = shippedOf(ledger, lineId);
  if (quantity >= cancelledOf(ledger, lineId) + shipped) return null;
  return shipped > 0 ? "R BELOW_SHIPPED" : "R BELOW_CANCELLED";
}

function captureObjection(ledger: Ledger, data: EventOfType<"payment.captured">["data"]): Objection {
  if (data.authorizationId === null) return null;
  const authorization = authorizationUnder(ledger, data.authorizationId);
  if (authorization === undefined) return "D AUTHORIZATION_NOT_SEEN";
  const left = openOf(ledger, authorization);
  if (data.amount <= left) return null;
  return left === 0 && voidedOf(ledger, data.authorizationId) > 0
    ? "R AUTHORIZATION_CLOSED"
    : "R OVER_CAPTURE";
}

function shipmentObjection(ledger: Ledger, { items }: EventOfType<"inventory.shipped">["data"]): Objection {
  if (ledger.cancelled) return "R ORDER_CANCELLED";
  for (const { lineId, quantity } of items) {
    if (ledger.line(lineId) === undefined) return "D LINE_NOT_FOUND";
    const after = shippedOf(ledger, lineId) + quantity;
    if (after > quantityOf(ledger, lineId)) return "D EXCEEDS_ORDERED";
    if (after > activeOf(ledger, lineId)) return "R LINE_CANCELLED";
    if (after > heldOf(ledger, lineId)) return "D NOT_RESERVED";
  }
  const leaving = new Map(items.map(({ lineId, quantity }) => [lineId, quantity]));
  const cost = costOf(ledger, (lineId) => shippedOf(ledger, lineId) + (leaving.get(lineId) ?? 0));
  return gateIsOpen(ledger, cost) ? null : "D PAYMENT_NOT_CONFIRMED";
}

/** Goods leave only for money that came in, or is promised where that is enough, and was not all given back. */
function gateIsOpen(ledger: Ledger, cost: number): boolean {
  const came = captured(ledger);
  const promised = ledger.placement?.data.shipGate === "authorized" ? open(ledger) : 0;
  if (came > 0 && refunded(ledger) === came) return false;
  return came + promised >= Math.max(0, cost);
}

function closingObjection(ledger: Ledger, cancelId: string): Objection {
  if (ledger.request(cancelId) === undefined) return "D CANCEL_NOT_REQUESTED";
  return requestIsOpen(ledger, cancelId) ? null : "R CANCEL_CLOSED";
}

function confirmObjection(ledger: Ledger, { cancelId }: EventOfType<"cancel.confirmed">["data"]): Objection {
  const closing = closingObjection(ledger, cancelId);
  if (closing !== null) return closing;
  if (ledger.cancelled) return "R ALREADY_CANCELLED";
  const request = ledger.request(cancelId);
  if (request?.data.scope === "order") return shippedTotal(ledger) > 0 ? "R ALREADY_SHIPPED" : null;
  for (const { lineId, quantity } of request?.data.items ?? []) {
    const active = activeOf(ledger, lineId);
    if (quantity > active) return "D EXCEEDS_ORDERED";
    if (quantity > active - shippedOf(ledger, lineId)) return "R ALREADY_SHIPPED";
  }
  return null;
}
