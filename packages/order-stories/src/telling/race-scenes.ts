import { type DraftLine, type OrderDraft, activeOf } from "./draft.ts";
import type { Scene } from "./scene.ts";

/**
 * Two parties act on the same picture of an order, and the second one's picture is no longer true. Each of them did
 * nothing odd, so these events count as ordinary ones; mostly they come to nothing, and the draft does not note them.
 */
export const raceScenes: readonly Scene[] = [
  { weight: (draft) => (draft.closedAuthorizations.length > 0 ? 0.06 : 0), play: captureOnceMore },
  { weight: (draft) => (draft.closedAuthorizations.length > 0 ? 0.04 : 0), play: voidOnceMore },
  { weight: (draft) => (draft.refunds.length > 0 ? 0.06 : 0), play: refundOnceMore },
  { weight: (draft) => (draft.refunds.length > 0 ? 0.06 : 0), play: reverseRefundedCapture },
  { weight: (draft) => (draft.reversedCaptures.length > 0 ? 0.2 : 0), play: refundReversedCapture },
  {
    weight: (draft) => (draft.reservations.some((entry) => entry.left === 0) ? 0.06 : 0),
    play: releaseOnceMore,
  },
  { weight: (draft) => (draft.closedRequests.length > 0 ? 0.1 : 0), play: answerOtherwise },
  { weight: (draft) => (draft.cancelled ? 0.4 : 0), play: editCancelledOrder },
  { weight: (draft) => (draft.cancelled ? 0.3 : 0), play: shipCancelledOrder },
  {
    weight: (draft) => (!draft.lasting && staleLines(draft).length > 0 ? 0.03 : 0),
    play: editFromOldQuantity,
  },
  { weight: (draft) => (partlyCancelled(draft).length > 0 ? 0.6 : 0), play: editBelowCancelled },
];

function captureOnceMore(draft: OrderDraft): void {
  const authorization = draft.random.pick(draft.closedAuthorizations);
  draft.tell({
    source: "/service-desk",
    type: "payment.captured",
    data: {
      captureId: draft.name("cap"),
      authorizationId: authorization.id,
      amount: draft.random.whole(1, 2_000),
      currency: draft.currency,
    },
    needs: [authorization.item],
  });
}

function voidOnceMore(draft: OrderDraft): void {
  const authorization = draft.random.pick(draft.closedAuthorizations);
  draft.tell({
    source: "/service-desk",
    type: "payment.voided",
    data: { voidId: draft.name("void"), authorizationId: authorization.id, amount: 500, reason: "voided" },
    needs: [authorization.item],
  });
}

function refundOnceMore(draft: OrderDraft): void {
  const { capture } = draft.random.pick(draft.refunds);
  draft.tell({
    source: "/service-desk",
    type: "payment.refunded",
    data: {
      refundId: draft.name("refund"),
      captureId: capture.id,
      amount: capture.amount - capture.refunded + draft.random.whole(1, 500),
      currency: draft.currency,
    },
    needs: [capture.item],
  });
}

function reverseRefundedCapture(draft: OrderDraft): void {
  const { capture } = draft.random.pick(draft.refunds);
  draft.tell({
    source: "/payments",
    type: "payment.failed",
    data: { stage: "capture", ref: capture.id, code: "chargeback_window" },
    needs: [capture.item],
  });
}

function refundReversedCapture(draft: OrderDraft): void {
  const capture = draft.random.pick(draft.reversedCaptures);
  draft.tell({
    source: "/service-desk",
    type: "payment.refunded",
    data: {
      refundId: draft.name("refund"),
      captureId: capture.id,
      amount: capture.amount,
      currency: draft.currency,
    },
    needs: [capture.item],
  });
}

function releaseOnceMore(draft: OrderDraft): void {
  const reservation = draft.random.pick(draft.reservations.filter((entry) => entry.left === 0));
  draft.tell({
    source: "/service-desk",
    type: "inventory.released",
    data: { releaseId: draft.name("rel"), reservationId: reservation.id, quantity: 1, reason: "cancelled" },
    needs: [reservation.item],
  });
}

function answerOtherwise(draft: OrderDraft): void {
  const { request, answer } = draft.random.pick(draft.closedRequests);
  draft.tell({
    source: "/service-desk",
    type: answer === "confirmed" ? "cancel.rejected" : "cancel.confirmed",
    data: { cancelId: request.id },
    needs: [request.item],
  });
}

function editCancelledOrder(draft: OrderDraft): void {
  const line = draft.random.pick(draft.lines);
  draft.tell({
    source: "/shop",
    type: "line.quantity_changed",
    data: {
      changeId: draft.name("edit"),
      lineId: line.lineId,
      fromQuantity: line.quantity,
      toQuantity: line.quantity + 1,
    },
    needs: [line.shaped],
  });
}

/** The parcel had left the shelf when the cancel came. */
function shipCancelledOrder(draft: OrderDraft): void {
  const line = draft.random.pick(draft.lines);
  draft.tell({
    source: "/warehouse",
    type: "inventory.shipped",
    data: { shipmentId: draft.name("ship"), items: [{ lineId: line.lineId, quantity: 1 }] },
    needs: [line.shaped],
  });
}

function staleLines(draft: OrderDraft): DraftLine[] {
  return draft.cancelled
    ? []
    : draft.lines.filter((line) => line.shaped.event.type === "line.quantity_changed");
}

/** Its number of pieces was changed by somebody else in the meantime. It waits for a state that may never come. */
function editFromOldQuantity(draft: OrderDraft): void {
  const line = draft.random.pick(staleLines(draft));
  const { fromQuantity } = line.shaped.event.data as { fromQuantity: number };
  draft.tell({
    source: "/service-desk",
    type: "line.quantity_changed",
    data: { changeId: draft.name("edit"), lineId: line.lineId, fromQuantity, toQuantity: line.quantity + 1 },
    needs: [line.shaped],
  });
}

function partlyCancelled(draft: OrderDraft): DraftLine[] {
  if (draft.cancelled) return [];
  return draft.lines.filter((line) => line.cancelled > 1 && line.shipped === 0 && activeOf(line) > 0);
}

function editBelowCancelled(draft: OrderDraft): void {
  const line = draft.random.pick(partlyCancelled(draft));
  draft.tell({
    source: "/shop",
    type: "line.quantity_changed",
    data: {
      changeId: draft.name("edit"),
      lineId: line.lineId,
      fromQuantity: line.quantity,
      toQuantity: line.cancelled - 1,
    },
    needs: [line.shaped],
  });
}
