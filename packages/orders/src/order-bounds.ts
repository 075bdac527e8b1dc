import type { Decision } from "./decision.ts";
import type { Line, OrderView } from "./order.ts";
import { MAX_AMOUNT_MINOR, MAX_LINES } from "./payloads.ts";
import { sumActive } from "./quantities.ts";
import { applied, deferred, rejected } from "./rules.ts";
import type { Effect } from "./rules.ts";

export function isOrderInRange(order: { totalMinor: number; lineCount: number }): boolean {
  const { totalMinor, lineCount } = order;
  return lineCount <= MAX_LINES && totalMinor >= 0 && totalMinor <= MAX_AMOUNT_MINOR;
}

/** Applies a change of lines, unless nothing would remain to be sold or the order would outgrow its bounds. */
export function applyToLines(
  view: OrderView,
  effect: Effect & { readonly lines: readonly Line[] },
): Decision {
  const { pieces, totalMinor } = sumActive(view, effect.lines);
  // Only an order-scope cancel may empty an order. What would empty it waits for a line that is perhaps under way.
  if (pieces === 0) return deferred("WOULD_EMPTY_ORDER");
  const added = effect.lines.filter((line) => view.line(line.lineId) === undefined);
  const lineCount = view.lineCount + added.length;
  return isOrderInRange({ totalMinor, lineCount }) ? applied(view, effect) : rejected("TOTAL_OUT_OF_RANGE");
}
