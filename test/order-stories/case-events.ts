import { type ReferenceOrder, identityOf, referenceOf } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";

/** Short spellings for one order's events, so that a case reads like the incident it comes from. */

const LCID = "A-1";

let published = 0;

/** An event with an id of its own unless one is given. */
export function say(type: string, data: unknown, envelope: Partial<EventEnvelope> = {}): EventEnvelope {
  published += 1;
  return { specversion: "1.0", id: `e-${published}`, source: "/case", type, lcid: LCID, data, ...envelope };
}

export interface CaseLine {
  readonly lineId: string;
  readonly quantity: number;
  readonly unitAmount?: number;
}

export function placed(
  lines: readonly CaseLine[],
  more: { adjustment?: number; shipGate?: string; currency?: string } = {},
): EventEnvelope {
  const { adjustment = 0, shipGate = "captured", currency = "JPY" } = more;
  const full = lines.map(({ lineId, quantity, unitAmount = 100 }) => ({
    lineId,
    sku: "TEA-1",
    quantity,
    unitAmount,
  }));
  return say("order.placed", { currency, adjustment, shipGate, lines: full });
}

export const added = (lineId: string, quantity: number, unitAmount = 100): EventEnvelope =>
  say("line.added", { lineId, sku: "TEA-1", quantity, unitAmount });
export const changed = (changeId: string, lineId: string, from: number, to: number): EventEnvelope =>
  say("line.quantity_changed", { changeId, lineId, fromQuantity: from, toQuantity: to });
export const removed = (changeId: string, lineId: string, from: number): EventEnvelope =>
  say("line.removed", { changeId, lineId, fromQuantity: from });

export const authorized = (authorizationId: string, amount: number): EventEnvelope =>
  say("payment.authorized", { authorizationId, amount, currency: "JPY" });
export const captured = (captureId: string, authorizationId: string | null, amount: number): EventEnvelope =>
  say("payment.captured", { captureId, authorizationId, amount, currency: "JPY" });
export const voided = (voidId: string, authorizationId: string, amount: number): EventEnvelope =>
  say("payment.voided", { voidId, authorizationId, amount, reason: "voided" });
export const refunded = (refundId: string, captureId: string, amount: number): EventEnvelope =>
  say("payment.refunded", { refundId, captureId, amount, currency: "JPY" });
export const failed = (stage: string, ref: string): EventEnvelope =>
  say("payment.failed", { stage, ref, code: "declined" });

export const reserved = (
  reservationId: string,
  lineId: string,
  quantity: number,
  shortageId?: string,
): EventEnvelope =>
  say("inventory.reserved", {
    reservationId,
    lineId,
    quantity,
    ...(shortageId === undefined ? {} : { shortageId }),
  });
export const short = (shortageId: string, lineId: string, quantity: number): EventEnvelope =>
  say("inventory.short", { shortageId, lineId, quantity });
export const released = (releaseId: string, reservationId: string, quantity: number): EventEnvelope =>
  say("inventory.released", { releaseId, reservationId, quantity, reason: "cancelled" });
export const shipped = (
  shipmentId: string,
  ...items: readonly [lineId: string, quantity: number][]
): EventEnvelope =>
  say("inventory.shipped", { shipmentId, items: items.map(([lineId, quantity]) => ({ lineId, quantity })) });

export const cancelRequested = (cancelId: string, ...items: readonly [string, number][]): EventEnvelope =>
  say(
    "cancel.requested",
    items.length === 0
      ? { cancelId, scope: "order", reason: "changed_mind" }
      : {
          cancelId,
          scope: "lines",
          items: items.map(([lineId, quantity]) => ({ lineId, quantity })),
          reason: "changed_mind",
        },
  );
export const cancelConfirmed = (cancelId: string): EventEnvelope => say("cancel.confirmed", { cancelId });
export const cancelRejected = (cancelId: string): EventEnvelope => say("cancel.rejected", { cancelId });

export interface Told {
  readonly order: ReferenceOrder;
  /** What became of each event in the end, as `applied`, `duplicate`, `rejected REASON` or `deferred REASON`. */
  readonly outcomes: readonly string[];
}

/** What the reference says about these events, in publish order, all of one order. */
export function tell(...events: readonly EventEnvelope[]): Told {
  const order = referenceOf(events).get(LCID);
  if (order === undefined) throw new Error("The events name no order");
  const outcomes = events.map((event) => {
    const outcome = order.outcomes.get(identityOf(event));
    if (outcome === undefined) return "none";
    return outcome.reason === null ? outcome.outcome : `${outcome.outcome} ${outcome.reason}`;
  });
  return { order, outcomes };
}
