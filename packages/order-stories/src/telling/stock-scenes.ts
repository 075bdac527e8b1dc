import { type DraftLine, type OrderDraft, activeOf, remember, strike } from "./draft.ts";
import type { Scene } from "./scene.ts";

/** What the warehouse tells: reservations, shortages, releases, shipments. */
export const stockScenes: readonly Scene[] = [
  {
    weight: (draft) => reserveWeight(draft),
    play: reserve,
  },
  { weight: (draft) => (withoutShortage(draft).length > 0 ? 0.8 : 0), play: reportShortage },
  { weight: (draft) => (draft.shortages.length > 0 && !draft.cancelled ? 4 : 0), play: restock },
  { weight: (draft) => releaseWeight(draft), play: release },
  { weight: (draft) => shipWeight(draft), play: ship },
];

function unreserved(draft: OrderDraft): DraftLine[] {
  if (draft.cancelled) return [];
  return draft.lines.filter((line) => line.held < activeOf(line));
}

function withoutShortage(draft: OrderDraft): DraftLine[] {
  return unreserved(draft).filter((line) => draft.shortages.every((shortage) => shortage.line !== line));
}

function reserveWeight(draft: OrderDraft): number {
  if (unreserved(draft).length > 0) return 7;
  return draft.lasting ? 0.8 : 0;
}

function reserve(draft: OrderDraft): void {
  const { random } = draft;
  const wanting = unreserved(draft);
  // A warehouse now and then sets aside more than was asked for; the surplus has to come back.
  const line = random.pick(wanting.length > 0 ? wanting : draft.lines);
  const missing = activeOf(line) - line.held;
  const quantity = missing > 1 && random.chance(0.2) ? random.whole(1, missing) : Math.max(1, missing);
  tellReservation(draft, line, quantity);
}

function tellReservation(draft: OrderDraft, line: DraftLine, quantity: number, shortageId?: string): void {
  const { random } = draft;
  const id = draft.name("res");
  const shortage = draft.shortages.find((entry) => entry.id === shortageId);
  const item = draft.tell({
    source: "/warehouse",
    type: "inventory.reserved",
    data: {
      reservationId: id,
      lineId: line.lineId,
      quantity,
      ...(shortageId === undefined ? {} : { shortageId }),
      ...(random.chance(0.3) ? { shelf: `${random.pick(["A", "B", "C"])}-${random.whole(1, 60)}` } : {}),
    },
    needs: [shortage?.item ?? line.shaped],
  });
  line.held += quantity;
  remember(draft.reservations, { id, line, left: quantity, item });
}

function reportShortage(draft: OrderDraft): void {
  const line = draft.random.pick(withoutShortage(draft));
  const quantity = Math.max(1, Math.min(line.peak, activeOf(line) - line.held));
  const id = draft.name("short");
  const item = draft.tell({
    source: "/warehouse",
    type: "inventory.short",
    data: { shortageId: id, lineId: line.lineId, quantity },
    needs: [line.shaped],
  });
  remember(draft.shortages, { id, line, quantity, item });
}

/** Goods arrive and fill a shortage that was reported before. */
function restock(draft: OrderDraft): void {
  const shortage = draft.random.pick(draft.shortages);
  tellReservation(draft, shortage.line, shortage.quantity, shortage.id);
  strike(draft.shortages, shortage);
}

function releasable(draft: OrderDraft): OrderDraft["reservations"] {
  return draft.reservations.filter((entry) => entry.left > 0 && entry.line.held > entry.line.shipped);
}

function releaseWeight(draft: OrderDraft): number {
  const entries = releasable(draft);
  if (entries.length === 0) return 0;
  if (draft.lines.some((line) => line.held > activeOf(line))) return 4;
  return draft.lasting ? 1.2 : 0.1;
}

function release(draft: OrderDraft): void {
  const { random } = draft;
  const entries = releasable(draft);
  const surplus = entries.filter((entry) => entry.line.held > activeOf(entry.line));
  const reservation = random.pick(surplus.length > 0 ? surplus : entries);
  const { line } = reservation;
  const wanted =
    surplus.length > 0
      ? line.held - Math.max(line.shipped, activeOf(line))
      : random.whole(1, reservation.left);
  const quantity = Math.max(1, Math.min(reservation.left, wanted, line.held - line.shipped));
  draft.tell({
    source: "/warehouse",
    type: "inventory.released",
    data: {
      releaseId: draft.name("rel"),
      reservationId: reservation.id,
      quantity,
      reason: random.pick(["cancelled", "surplus", "damaged"]),
    },
    needs: [reservation.item],
  });
  line.held -= quantity;
  reservation.left -= quantity;
}

function shippable(draft: OrderDraft): DraftLine[] {
  return draft.lines.filter((line) => Math.min(line.held, activeOf(line)) > line.shipped);
}

function shipWeight(draft: OrderDraft): number {
  if (draft.cancelled || shippable(draft).length === 0) return 0;
  const paid = draft.captured + (draft.shipGate === "authorized" ? draft.openAmount : 0);
  if (paid < draft.payable) return 0.3;
  return draft.lasting ? 0.15 : 6;
}

/** Most parcels hold everything that is ready; some leave in parts. */
function ship(draft: OrderDraft): void {
  const { random } = draft;
  const ready = shippable(draft);
  const part = draft.lasting || random.chance(0.25);
  const lines = part ? [random.pick(ready)] : ready;
  const items = lines.map((line) => {
    const most = Math.min(line.held, activeOf(line)) - line.shipped;
    return { line, quantity: part ? random.whole(1, draft.lasting ? Math.min(2, most) : most) : most };
  });
  const reservations = draft.reservations.filter((entry) => lines.includes(entry.line));
  const paid = draft.captures.at(-1) ?? draft.authorizations.at(-1);
  draft.tell({
    source: "/warehouse",
    type: "inventory.shipped",
    data: {
      shipmentId: draft.name("ship"),
      items: items.map(({ line, quantity }) => ({ lineId: line.lineId, quantity })),
      ...(random.chance(0.5) ? { carrier: random.pick(["yamato", "sagawa", "japan-post"]) } : {}),
    },
    needs: [...(paid === undefined ? [] : [paid.item]), ...reservations.map((entry) => entry.item)],
  });
  for (const { line, quantity } of items) line.shipped += quantity;
}
