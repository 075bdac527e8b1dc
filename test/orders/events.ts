import type {
  EventEnvelope,
  FailureStage,
  LineQuantity,
  OrderEvent,
  OrderEventType,
  PlacedLine,
  ShipGate,
} from "@junban/orders";

export const LCID = "A-1001";

type DataOf<Type extends OrderEventType> = Extract<OrderEvent, { type: Type }>["data"];

/** One event of the order that most tests are about. */
export function event<Type extends OrderEventType>(type: Type, data: DataOf<Type>): OrderEvent {
  return { type, lcid: LCID, data } as OrderEvent;
}

/** A usable envelope around any type and data, with whatever a test wants different. */
export function envelope(
  type: string,
  data?: unknown,
  attributes: Record<string, unknown> = {},
): EventEnvelope {
  return {
    specversion: "1.0",
    id: "evt-81",
    source: "/payments",
    type,
    lcid: LCID,
    time: "2026-11-29T09:00:00Z",
    data,
    ...attributes,
  };
}

/** A line at 100 apiece, unless said otherwise. */
export function line(lineId: string, quantity: number, unitAmount = 100): PlacedLine {
  return { lineId, sku: `SKU-${lineId}`, quantity, unitAmount };
}

function items(quantities: Readonly<Record<string, number>>): LineQuantity[] {
  return Object.entries(quantities).map(([lineId, quantity]) => ({ lineId, quantity }));
}

export function placed(
  lines: readonly PlacedLine[],
  terms: { adjustment?: number; shipGate?: ShipGate } = {},
): OrderEvent {
  const { adjustment = 0, shipGate = "captured" } = terms;
  return event("order.placed", { currency: "JPY", adjustment, shipGate, lines });
}

export function added(lineId: string, quantity: number, unitAmount = 100): OrderEvent {
  return event("line.added", line(lineId, quantity, unitAmount));
}

export function changed(
  changeId: string,
  lineId: string,
  [fromQuantity, toQuantity]: [number, number],
): OrderEvent {
  return event("line.quantity_changed", { changeId, lineId, fromQuantity, toQuantity });
}

export function removed(changeId: string, lineId: string, fromQuantity: number): OrderEvent {
  return event("line.removed", { changeId, lineId, fromQuantity });
}

export function authorized(authorizationId: string, amount: number, currency = "JPY"): OrderEvent {
  return event("payment.authorized", { authorizationId, amount, currency });
}

export function captured(
  captureId: string,
  authorizationId: string,
  amount: number,
  currency = "JPY",
): OrderEvent {
  return event("payment.captured", { captureId, authorizationId, amount, currency });
}

export function sale(captureId: string, amount: number): OrderEvent {
  return event("payment.captured", { captureId, authorizationId: null, amount, currency: "JPY" });
}

export function voided(voidId: string, authorizationId: string, amount: number): OrderEvent {
  return event("payment.voided", { voidId, authorizationId, amount, reason: "voided" });
}

export function refunded(refundId: string, captureId: string, amount: number, currency = "JPY"): OrderEvent {
  return event("payment.refunded", { refundId, captureId, amount, currency });
}

export function failed(stage: FailureStage, ref: string, code = "declined"): OrderEvent {
  return event("payment.failed", { stage, ref, code });
}

export function reserved(
  reservationId: string,
  lineId: string,
  quantity: number,
  shortageId: string | null = null,
): OrderEvent {
  return event("inventory.reserved", { reservationId, lineId, quantity, shortageId });
}

export function short(shortageId: string, lineId: string, quantity: number): OrderEvent {
  return event("inventory.short", { shortageId, lineId, quantity });
}

export function released(releaseId: string, reservationId: string, quantity: number): OrderEvent {
  return event("inventory.released", { releaseId, reservationId, quantity, reason: "no longer needed" });
}

export function shipped(shipmentId: string, quantities: Readonly<Record<string, number>>): OrderEvent {
  return event("inventory.shipped", { shipmentId, items: items(quantities) });
}

/** For the whole order, or for some pieces of some lines. */
export function cancelRequested(cancelId: string, quantities?: Readonly<Record<string, number>>): OrderEvent {
  const reason = "changed their mind";
  const scope = quantities === undefined ? "order" : "lines";
  return event("cancel.requested", { cancelId, scope, items: items(quantities ?? {}), reason });
}

export function cancelConfirmed(cancelId: string): OrderEvent {
  return event("cancel.confirmed", { cancelId });
}

export function cancelRejected(cancelId: string): OrderEvent {
  return event("cancel.rejected", { cancelId });
}

/** Asked for and granted. */
export function cancelled(cancelId: string, quantities?: Readonly<Record<string, number>>): OrderEvent[] {
  return [cancelRequested(cancelId, quantities), cancelConfirmed(cancelId)];
}
