import type { Decision } from "./decision.ts";
import type {
  InventoryReleased,
  InventoryReserved,
  InventoryShipped,
  InventoryShort,
  LineQuantity,
} from "./event.ts";
import type { Line, OrderView, Ref } from "./order.ts";
import { activeOf, heldOf, openMinorOf } from "./quantities.ts";
import { applied, deferred, lineKnownAs, named, refFor, rejected } from "./rules.ts";
import type { EventRules } from "./rules.ts";

type InventoryType = "inventory.reserved" | "inventory.short" | "inventory.released" | "inventory.shipped";

export const INVENTORY_RULES: EventRules<InventoryType> = {
  "inventory.reserved": {
    keyOf: ({ data }) => named("reservation", data.reservationId),
    looksUp: ({ data }) => (data.shortageId === null ? [] : [named("shortage", data.shortageId)]),
    decide: decideReserved,
  },
  "inventory.short": {
    keyOf: ({ data }) => named("shortage", data.shortageId),
    looksUp: () => [],
    decide: decideShort,
  },
  "inventory.released": {
    keyOf: ({ data }) => named("release", data.releaseId),
    looksUp: ({ data }) => [named("reservation", data.reservationId)],
    decide: decideReleased,
  },
  "inventory.shipped": {
    keyOf: ({ data }) => named("shipment", data.shipmentId),
    looksUp: () => [],
    decide: decideShipped,
  },
};

function decideReserved(view: OrderView, event: InventoryReserved): Decision {
  const { reservationId, lineId, quantity, shortageId } = event.data;
  const line = view.line(lineId);
  if (line === undefined) return deferred("LINE_NOT_FOUND");
  const shortage = shortageId === null ? null : view.ref(named("shortage", shortageId));
  if (shortage === undefined) return deferred("SHORTAGE_NOT_SEEN");
  if (quantity > line.peak) {
    // A cancelled order never grows, so waiting for more to be ordered would be in vain.
    return view.totals.cancelled ? rejected("ORDER_CANCELLED") : deferred("EXCEEDS_ORDERED");
  }
  const reservation = refFor(event, named("reservation", reservationId), { amount: quantity, lineId });
  const reserved: Line = { ...line, reserved: line.reserved + quantity };
  if (shortage === null || !shortage.open) return applied(view, { lines: [reserved], refs: [reservation] });
  return applied(view, {
    lines: closeShortage(view, { shortage, reserved }),
    refs: [reservation, { ...shortage, open: false }],
  });
}

/** A shortage is filled as a whole, and on its own line, whichever line the reservation is for. */
function closeShortage(
  view: OrderView,
  { shortage, reserved }: { readonly shortage: Ref; readonly reserved: Line },
): readonly Line[] {
  if (shortage.lineId === reserved.lineId) return [fillShortage(reserved, shortage)];
  return [reserved, fillShortage(lineKnownAs(view, shortage.lineId ?? ""), shortage)];
}

function fillShortage(line: Line, shortage: Ref): Line {
  return { ...line, shortOpen: line.shortOpen - shortage.amount };
}

function decideShort(view: OrderView, event: InventoryShort): Decision {
  const { shortageId, lineId, quantity } = event.data;
  const line = view.line(lineId);
  if (line === undefined) return deferred("LINE_NOT_FOUND");
  if (quantity > line.peak) return deferred("EXCEEDS_ORDERED");
  return applied(view, {
    lines: [{ ...line, shortOpen: line.shortOpen + quantity }],
    refs: [refFor(event, named("shortage", shortageId), { amount: quantity, open: true, lineId })],
  });
}

function decideReleased(view: OrderView, event: InventoryReleased): Decision {
  const { releaseId, reservationId, quantity } = event.data;
  const parent = named("reservation", reservationId);
  const reservation = view.ref(parent);
  if (reservation === undefined) return deferred("RESERVATION_NOT_SEEN");
  if (quantity > reservation.amount - reservation.used) return rejected("OVER_RELEASE");
  const line = lineKnownAs(view, reservation.lineId ?? "");
  if (heldOf(line) - quantity < line.shipped) return deferred("RELEASE_BELOW_SHIPPED");
  return applied(view, {
    lines: [{ ...line, released: line.released + quantity }],
    refs: [
      refFor(event, named("release", releaseId), { parent, amount: quantity }),
      { ...reservation, used: reservation.used + quantity },
    ],
  });
}

/** A parcel is one thing: it leaves with all its items or not at all. */
function decideShipped(view: OrderView, event: InventoryShipped): Decision {
  if (view.totals.cancelled) return rejected("ORDER_CANCELLED");
  const { shipmentId, items } = event.data;
  const shipped: Line[] = [];
  let pieces = 0;
  for (const { lineId, quantity } of items) {
    const line = view.line(lineId);
    if (line === undefined) return deferred("LINE_NOT_FOUND");
    const after = line.shipped + quantity;
    if (after > line.quantity) return deferred("EXCEEDS_ORDERED");
    if (after > activeOf(line)) return rejected("LINE_CANCELLED");
    if (after > heldOf(line)) return deferred("NOT_RESERVED");
    shipped.push({ ...line, shipped: after });
    pieces += quantity;
  }
  if (!isGateOpen(view, items)) return deferred("PAYMENT_NOT_CONFIRMED");
  return applied(view, {
    lines: shipped,
    refs: [refFor(event, named("shipment", shipmentId), { amount: pieces })],
  });
}

/** Goods leave only when the money for everything shipped so far and now is there, and was not all given back. */
function isGateOpen(view: OrderView, items: readonly LineQuantity[]): boolean {
  const { totals } = view;
  const { capturedMinor, refundedMinor } = totals;
  if (capturedMinor > 0 && refundedMinor === capturedMinor) return false;
  let shippedMinor = totals.adjustmentMinor;
  for (const line of view.lines()) shippedMinor += line.shipped * line.unitAmountMinor;
  for (const { lineId, quantity } of items) {
    shippedMinor += quantity * (view.line(lineId)?.unitAmountMinor ?? 0);
  }
  const securedMinor = totals.shipGate === "authorized" ? capturedMinor + openMinorOf(totals) : capturedMinor;
  return securedMinor >= Math.max(0, shippedMinor);
}
