import { type Flaw, type OrderDraft, type StoryItem, activeOf } from "./draft.ts";

/**
 * Events that must not be applied. Nothing of them is noted in the draft, since nothing of them should take effect.
 */
interface FlawedEvent {
  readonly type: string;
  readonly data: Record<string, unknown>;
  readonly extra?: Record<string, unknown>;
  /** An earlier event whose id this one bears. */
  readonly instead?: StoryItem;
}

/** Null when the story so far does not offer what it takes. */
type FlawBuilder = (draft: OrderDraft) => FlawedEvent | null;

const builders: Readonly<Record<Flaw, FlawBuilder>> = {
  "float-amount": (draft) => ({ type: "payment.captured", data: sale(draft, 10.005) }),
  "missing-field": (draft) => ({
    type: "inventory.reserved",
    data: { reservationId: draft.name("res"), lineId: "L-1" },
  }),
  "unknown-type": (draft) => ({
    type: "payment.disputed",
    data: { disputeId: draft.name("dispute"), captureId: "cap-1" },
  }),
  "newer-schema": (draft) => ({
    type: "payment.captured",
    data: sale(draft, 100),
    extra: { schemaversion: 7 },
  }),
  "nul-character": (draft) => ({
    type: "cancel.requested",
    data: { cancelId: draft.name("cancel"), scope: "order", reason: "nothing\u0000good" },
  }),
  "unknown-currency": (draft) => ({
    type: "payment.authorized",
    data: { authorizationId: draft.name("auth"), amount: 100, currency: "YEN" },
  }),
  "repeated-line": (draft) => {
    const items = ["L-1", "L-1"].map((lineId) => ({ lineId, quantity: 1 }));
    return { type: "inventory.shipped", data: { shipmentId: draft.name("ship"), items } };
  },
  "conflicting-body": (draft) => {
    const told = contradicted(draft);
    return told && { type: told.item.event.type, data: told.data, instead: told.item };
  },
  "conflicting-reference": (draft) => {
    const told = contradicted(draft);
    return told && { type: told.item.event.type, data: told.data };
  },
  "over-capture": (draft) => {
    const [authorization] = draft.authorizations;
    if (authorization === undefined) return null;
    const data = { ...sale(draft, authorization.open + 1), authorizationId: authorization.id };
    return { type: "payment.captured", data };
  },
  "closed-authorization": (draft) => {
    const authorization = draft.closedAuthorizations.find(({ id }) => wasVoided(draft, id));
    if (authorization === undefined) return null;
    return { type: "payment.captured", data: { ...sale(draft, 1), authorizationId: authorization.id } };
  },
  "over-refund": (draft) => {
    const [capture] = draft.captures;
    if (capture === undefined) return null;
    const amount = capture.amount - capture.refunded + 1;
    const data = { refundId: draft.name("refund"), captureId: capture.id, amount, currency: draft.currency };
    return { type: "payment.refunded", data };
  },
  "foreign-currency": (draft) => ({
    type: "payment.captured",
    data: { ...sale(draft, 500), currency: "CHF" },
  }),
  "over-release": (draft) => {
    const [reservation] = draft.reservations;
    if (reservation === undefined) return null;
    const { id: reservationId, left } = reservation;
    const data = { releaseId: draft.name("rel"), reservationId, quantity: left + 1, reason: "cancelled" };
    return { type: "inventory.released", data };
  },
  "cancelled-shipment": (draft) => {
    const line = draft.lines.find((entry) => entry.cancelled > 0 && activeOf(entry) >= entry.shipped);
    if (line === undefined) return null;
    const items = [{ lineId: line.lineId, quantity: line.quantity - line.shipped }];
    return { type: "inventory.shipped", data: { shipmentId: draft.name("ship"), items } };
  },
  "below-shipped": (draft) => {
    const line = draft.lines.find((entry) => entry.shipped > 1);
    if (draft.cancelled || line === undefined) return null;
    const { lineId, quantity: fromQuantity, shipped } = line;
    const data = { changeId: draft.name("edit"), lineId, fromQuantity, toQuantity: shipped - 1 };
    return { type: "line.quantity_changed", data };
  },
};

/** Every flaw in turn, so that any run with enough of them shows each. */
export function flawsInTurn(count: number): readonly Flaw[] {
  const all = Object.keys(builders) as Flaw[];
  return Array.from({ length: count }, (_, index) => all[index % all.length] as Flaw);
}

/** Tells an event with this flaw, if the story so far offers what it takes. */
export function tellFlawed(draft: OrderDraft, flaw: Flaw): boolean {
  const flawed = builders[flaw](draft);
  if (flawed === null) return false;
  const { type, data, extra = {}, instead } = flawed;
  if (instead === undefined) {
    draft.tell({ source: sourceOf(type), type, data, extra, flaw, needs: [draft.placement] });
  } else {
    const event = { ...instead.event, data };
    draft.add({ event, note: "invalid", flaw, needs: [instead], atMs: draft.nowMs });
  }
  return true;
}

function sourceOf(type: string): string {
  if (type.startsWith("payment.")) return "/payments";
  return type.startsWith("inventory.") ? "/warehouse" : "/service-desk";
}

function sale(draft: OrderDraft, amount: number): Record<string, unknown> {
  return { captureId: draft.name("cap"), authorizationId: null, amount, currency: draft.currency };
}

function wasVoided(draft: OrderDraft, authorizationId: string): boolean {
  return draft.items.some(
    ({ event }) => event.type === "payment.voided" && dataOf(event)["authorizationId"] === authorizationId,
  );
}

/** An earlier event and what it would say with one number changed. */
function contradicted(draft: OrderDraft): { item: StoryItem; data: Record<string, unknown> } | null {
  const item = draft.items.findLast(
    ({ note, event }) =>
      note === "first" && ["payment.authorized", "inventory.reserved"].includes(event.type),
  );
  if (item === undefined) return null;
  const data = dataOf(item.event);
  const field = item.event.type === "payment.authorized" ? "amount" : "quantity";
  return { item, data: { ...data, [field]: Number(data[field]) + 1 } };
}

function dataOf(event: StoryItem["event"]): Record<string, unknown> {
  return event.data as Record<string, unknown>;
}
