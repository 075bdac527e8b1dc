import type { Line, OrderTotals, OrderView, Ref } from "./order.ts";

/** What the customer still wants of a line. */
export function activeOf(line: Line): number {
  return line.quantity - line.cancelled;
}

/** What the warehouse keeps for a line, shipped pieces included. It may be more than anybody wants. */
export function heldOf(line: Line): number {
  return line.reserved - line.released;
}

export function allocatedOf(line: Line): number {
  return Math.min(heldOf(line), activeOf(line));
}

/** What an authorization has left. */
export function openOf(authorization: Ref): number {
  return authorization.amount - authorization.used - authorization.voided;
}

/** What all authorizations have left. */
export function openMinorOf(totals: OrderTotals): number {
  return totals.authorizedMinor - totals.capturedMinor - totals.voidedMinor;
}

export interface ActiveSum {
  readonly pieces: number;
  /** Active pieces at their prices plus the order's adjustment; may be negative before it is judged. */
  readonly totalMinor: number;
}

/** The order as it would be with these lines changed or added. */
export function sumActive(view: OrderView, changed: readonly Line[]): ActiveSum {
  let pieces = 0;
  let totalMinor = view.totals.adjustmentMinor;
  const add = (line: Line, sign: 1 | -1): void => {
    const active = activeOf(line) * sign;
    pieces += active;
    totalMinor += active * line.unitAmountMinor;
  };
  for (const line of view.lines()) add(line, 1);
  for (const line of changed) {
    const before = view.line(line.lineId);
    if (before !== undefined) add(before, -1);
    add(line, 1);
  }
  return { pieces, totalMinor };
}
