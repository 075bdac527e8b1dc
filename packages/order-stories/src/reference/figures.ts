import type { Ledger } from "./ledger.ts";
import {
  activeOf,
  activeTotal,
  allocatedOf,
  authorized,
  cancelledOf,
  captured,
  heldOf,
  isShort,
  open,
  payable,
  peakOf,
  quantityOf,
  refunded,
  releasedOf,
  requestIsOpen,
  reservedOf,
  shippedOf,
  shippedTotal,
  voided,
} from "./questions.ts";

export interface LineFigures {
  readonly lineId: string;
  readonly quantity: number;
  readonly peak: number;
  readonly cancelled: number;
  readonly reserved: number;
  readonly released: number;
  readonly shipped: number;
}

/** What a person reads off an order. Amounts in minor units. */
export interface OrderFigures {
  readonly lcid: string;
  /** How many events were applied. */
  readonly version: number;
  readonly status: string;
  readonly paymentStatus: string;
  readonly fulfilmentStatus: string;
  readonly payableMinor: number;
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
  readonly voidedMinor: number;
  readonly refundedMinor: number;
  readonly refundDueMinor: number;
  readonly voidDueMinor: number;
  readonly releaseDue: number;
  /** Events that wait for something to arrive. Those of an unknown type or newer schema are not counted. */
  readonly held: number;
  readonly lines: readonly LineFigures[];
}

export function figuresOf(ledger: Ledger, { lcid, held }: { lcid: string; held: number }): OrderFigures {
  return {
    lcid,
    version: ledger.version,
    status: orderStatus(ledger),
    paymentStatus: paymentStatus(ledger),
    fulfilmentStatus: fulfilmentStatus(ledger),
    payableMinor: payable(ledger),
    authorizedMinor: authorized(ledger),
    capturedMinor: captured(ledger),
    voidedMinor: voided(ledger),
    refundedMinor: refunded(ledger),
    refundDueMinor: refundDue(ledger),
    voidDueMinor: Math.max(0, open(ledger) - Math.max(0, payable(ledger) - captured(ledger))),
    releaseDue: ledger.lineIds.reduce(
      (sum, lineId) => sum + heldOf(ledger, lineId) - allocatedOf(ledger, lineId),
      0,
    ),
    held,
    lines: ledger.lineIds.toSorted().map((lineId) => ({
      lineId,
      quantity: quantityOf(ledger, lineId),
      peak: peakOf(ledger, lineId),
      cancelled: cancelledOf(ledger, lineId),
      reserved: reservedOf(ledger, lineId),
      released: releasedOf(ledger, lineId),
      shipped: shippedOf(ledger, lineId),
    })),
  };
}

function refundDue(ledger: Ledger): number {
  return Math.max(0, captured(ledger) - refunded(ledger) - payable(ledger));
}

function paymentStatus(ledger: Ledger): string {
  // Before placement nothing was applied, so there is nothing to be paid.
  if (ledger.placement === undefined) return "unpaid";
  const came = captured(ledger);
  const back = refunded(ledger);
  const due = payable(ledger);
  if (refundDue(ledger) > 0) return "refund_due";
  if (came > 0 && back === came) return "refunded";
  if (back > 0) return "partially_refunded";
  if (!ledger.cancelled && came >= due) return "paid";
  if (came > 0) return "partially_captured";
  if (open(ledger) > 0) return open(ledger) >= due ? "authorized" : "partially_authorized";
  if (authorized(ledger) > 0) return "voided";
  return ledger.all("payment.failed").length > 0 ? "failed" : "unpaid";
}

function fulfilmentStatus(ledger: Ledger): string {
  if (ledger.placement === undefined) return "unallocated";
  if (ledger.cancelled) return "cancelled";
  const active = activeTotal(ledger);
  const shipped = shippedTotal(ledger);
  if (shipped === active) return "shipped";
  if (shipped > 0) return "partially_shipped";
  const waiting = ledger.lineIds.filter((lineId) => allocatedOf(ledger, lineId) < activeOf(ledger, lineId));
  if (waiting.some((lineId) => isShort(ledger, lineId))) return "backordered";
  const allocated = ledger.lineIds.reduce((sum, lineId) => sum + allocatedOf(ledger, lineId), 0);
  if (allocated === active) return "allocated";
  return allocated > 0 ? "partially_allocated" : "unallocated";
}

function orderStatus(ledger: Ledger): string {
  if (ledger.placement === undefined) return "awaiting_placement";
  if (ledger.cancelled) return "cancelled";
  const paid = captured(ledger) >= payable(ledger);
  const shipped = shippedTotal(ledger);
  if (shipped === activeTotal(ledger) && paid && refundDue(ledger) === 0) return "completed";
  if (shipped > 0) return "in_fulfilment";
  if (hasOpenOrderCancel(ledger)) return "cancel_requested";
  return paid ? "confirmed" : "placed";
}

function hasOpenOrderCancel(ledger: Ledger): boolean {
  const requests = ledger.all("cancel.requested").filter(({ data }) => data.scope === "order");
  return requests.some(({ data }) => requestIsOpen(ledger, data.cancelId));
}
