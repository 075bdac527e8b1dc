import type { Decision } from "./decision.ts";
import type { LineAdded, LineQuantityChanged, LineRemoved, OrderPlaced, PlacedLine } from "./event.ts";
import { applyToLines, isOrderInRange } from "./order-bounds.ts";
import type { Line, OrderView } from "./order.ts";
import { sumActive } from "./quantities.ts";
import { applied, deferred, named, refFor, rejected } from "./rules.ts";
import type { EventRules } from "./rules.ts";

type LineItemType = "order.placed" | "line.added" | "line.quantity_changed" | "line.removed";

export const LINE_ITEM_RULES: EventRules<LineItemType> = {
  "order.placed": {
    keyOf: ({ lcid }) => named("order", lcid),
    looksUp: () => [],
    decide: decidePlaced,
  },
  "line.added": {
    keyOf: ({ data }) => ({ kind: "line", ref: data.lineId }),
    looksUp: () => [],
    decide: decideAdded,
  },
  "line.quantity_changed": {
    keyOf: ({ data }) => named("change", data.changeId),
    looksUp: () => [],
    decide: decideQuantityChanged,
  },
  "line.removed": {
    keyOf: ({ data }) => named("change", data.changeId),
    looksUp: () => [],
    decide: decideRemoved,
  },
};

/** Whether a line that was added before says the same as this one. */
export function isSameLine(line: Line, added: PlacedLine): boolean {
  return (
    line.sku === added.sku &&
    line.unitAmountMinor === added.unitAmount &&
    line.addedQuantity === added.quantity
  );
}

function newLine({ lineId, sku, quantity, unitAmount }: PlacedLine): Line {
  return {
    lineId,
    sku,
    unitAmountMinor: unitAmount,
    addedQuantity: quantity,
    quantity,
    peak: quantity,
    cancelled: 0,
    reserved: 0,
    released: 0,
    shipped: 0,
    shortOpen: 0,
  };
}

function decidePlaced(view: OrderView, event: OrderPlaced): Decision {
  const { currency, shipGate, adjustment } = event.data;
  const lines = event.data.lines.map(newLine);
  const totalMinor = sumActive(view, lines).totalMinor + adjustment;
  if (!isOrderInRange({ totalMinor, lineCount: lines.length })) return rejected("TOTAL_OUT_OF_RANGE");
  return applied(view, {
    totals: { placed: true, currency, shipGate, adjustmentMinor: adjustment },
    lines,
    refs: [refFor(event, named("order", event.lcid))],
  });
}

function decideAdded(view: OrderView, { data }: LineAdded): Decision {
  if (view.totals.cancelled) return rejected("ORDER_CANCELLED");
  return applyToLines(view, { lines: [newLine(data)] });
}

function decideQuantityChanged(view: OrderView, event: LineQuantityChanged): Decision {
  return editLine(view, event, () => event.data.toQuantity);
}

function decideRemoved(view: OrderView, event: LineRemoved): Decision {
  // What was cancelled of the line stays on record; the rest goes.
  return editLine(view, event, (line) => line.cancelled);
}

function editLine(
  view: OrderView,
  event: LineQuantityChanged | LineRemoved,
  quantityAfter: (line: Line) => number,
): Decision {
  if (view.totals.cancelled) return rejected("ORDER_CANCELLED");
  const line = view.line(event.data.lineId);
  if (line === undefined) return deferred("LINE_NOT_FOUND");
  if (event.data.fromQuantity !== line.quantity) return deferred("LINE_PRECONDITION");
  const quantity = quantityAfter(line);
  if (quantity < line.cancelled + line.shipped) {
    return rejected(line.shipped > 0 ? "BELOW_SHIPPED" : "BELOW_CANCELLED");
  }
  const edited: Line = { ...line, quantity, peak: Math.max(line.peak, quantity) };
  return applyToLines(view, {
    lines: [edited],
    refs: [refFor(event, named("change", event.data.changeId))],
  });
}
