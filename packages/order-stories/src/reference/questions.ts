import type { Ledger, Posting } from "./ledger.ts";

/**
 * What one can ask the facts of an order. Every answer is reckoned anew from all facts; a reversal, for instance, is not
 * an effect that was once applied but the plain fact that a failure report exists for what was reported done.
 */

function sum<Entry>(entries: Iterable<Entry>, amountOf: (entry: Entry) => number): number {
  let reckoned = 0;
  for (const entry of entries) reckoned += amountOf(entry);
  return reckoned;
}

// Money

function standingCaptures(
  ledger: Ledger,
): readonly { captureId: string; authorizationId: string | null; amount: number }[] {
  const failed = ledger.failed("capture");
  return ledger.all("payment.captured").flatMap(({ data }) => (failed.has(data.captureId) ? [] : [data]));
}

function standingRefunds(ledger: Ledger): readonly { captureId: string; amount: number }[] {
  const failed = ledger.failed("refund");
  return ledger.all("payment.refunded").flatMap(({ data }) => (failed.has(data.refundId) ? [] : [data]));
}

function sales(ledger: Ledger): readonly { captureId: string; amount: number }[] {
  return ledger.all("payment.captured").flatMap(({ data }) => (data.authorizationId === null ? [data] : []));
}

export function authorized(ledger: Ledger): number {
  return (
    sum(ledger.all("payment.authorized"), ({ data }) => data.amount) +
    sum(sales(ledger), ({ amount }) => amount)
  );
}

export function captured(ledger: Ledger): number {
  return sum(standingCaptures(ledger), ({ amount }) => amount);
}

export function voided(ledger: Ledger): number {
  const failed = ledger.failed("capture");
  const reversedSales = sales(ledger).filter(({ captureId }) => failed.has(captureId));
  return (
    sum(ledger.all("payment.voided"), ({ data }) => data.amount) + sum(reversedSales, ({ amount }) => amount)
  );
}

export function refunded(ledger: Ledger): number {
  return sum(standingRefunds(ledger), ({ amount }) => amount);
}

export function open(ledger: Ledger): number {
  return authorized(ledger) - captured(ledger) - voided(ledger);
}

export function voidedOf(ledger: Ledger, authorizationId: string): number {
  return sum(ledger.all("payment.voided"), ({ data }) =>
    data.authorizationId === authorizationId ? data.amount : 0,
  );
}

/** What is left of one authorization. */
export function openOf(
  ledger: Ledger,
  { authorizationId, amount }: { authorizationId: string; amount: number },
): number {
  const taken = standingCaptures(ledger).filter((capture) => capture.authorizationId === authorizationId);
  return amount - sum(taken, (capture) => capture.amount) - voidedOf(ledger, authorizationId);
}

export function refundedOf(ledger: Ledger, captureId: string): number {
  return sum(standingRefunds(ledger), (refund) => (refund.captureId === captureId ? refund.amount : 0));
}

// Goods

function said(postings: readonly Posting[], what: Posting["what"]): number {
  return sum(postings, (posting) => (posting.what === what ? posting.quantity : 0));
}

function postingsOf(ledger: Ledger, lineId: string): readonly Posting[] {
  return ledger.line(lineId) ?? [];
}

/** The line service's last word; a removed line keeps what had been cancelled of it until then. */
export function quantityOf(ledger: Ledger, lineId: string): number {
  const postings = postingsOf(ledger, lineId);
  const last = postings.findLast(({ what }) => what === "ordered" || what === "edited" || what === "removed");
  if (last === undefined) return 0;
  if (last.what !== "removed") return last.quantity;
  return said(
    postings.filter(({ at }) => at < last.at),
    "cancelled",
  );
}

export function peakOf(ledger: Ledger, lineId: string): number {
  const named = postingsOf(ledger, lineId).filter(({ what }) => what === "ordered" || what === "edited");
  return Math.max(0, ...named.map(({ quantity }) => quantity));
}

export function cancelledOf(ledger: Ledger, lineId: string): number {
  return ledger.cancelled ? quantityOf(ledger, lineId) : said(postingsOf(ledger, lineId), "cancelled");
}

export function activeOf(ledger: Ledger, lineId: string): number {
  return quantityOf(ledger, lineId) - cancelledOf(ledger, lineId);
}

export function reservedOf(ledger: Ledger, lineId: string): number {
  return said(postingsOf(ledger, lineId), "reserved");
}

export function releasedOf(ledger: Ledger, lineId: string): number {
  return said(postingsOf(ledger, lineId), "released");
}

export function heldOf(ledger: Ledger, lineId: string): number {
  return reservedOf(ledger, lineId) - releasedOf(ledger, lineId);
}

export function shippedOf(ledger: Ledger, lineId: string): number {
  return said(postingsOf(ledger, lineId), "shipped");
}

export function allocatedOf(ledger: Ledger, lineId: string): number {
  return Math.min(heldOf(ledger, lineId), activeOf(ledger, lineId));
}

export function isShort(ledger: Ledger, lineId: string): boolean {
  const filled = new Set(ledger.all("inventory.reserved").map(({ data }) => data.shortageId));
  return postingsOf(ledger, lineId).some(({ what, ref }) => what === "short" && !filled.has(ref));
}

export function releasedFrom(ledger: Ledger, reservationId: string): number {
  return sum(ledger.all("inventory.released"), ({ data }) =>
    data.reservationId === reservationId ? data.quantity : 0,
  );
}

export function activeTotal(ledger: Ledger): number {
  return sum(ledger.lineIds, (lineId) => activeOf(ledger, lineId));
}

export function shippedTotal(ledger: Ledger): number {
  return sum(ledger.lineIds, (lineId) => shippedOf(ledger, lineId));
}

// Goods for money

/** What the given quantities cost, shipping, tax and discount included. May be below zero. */
export function costOf(ledger: Ledger, quantity: (lineId: string) => number): number {
  const prices = ledger.placement?.data.lines ?? [];
  const added = ledger.all("line.added").map(({ data }) => data);
  const goods = sum([...prices, ...added], ({ lineId, unitAmount }) => unitAmount * quantity(lineId));
  return goods + (ledger.placement?.data.adjustment ?? 0);
}

/** The order's total as it stands, before it is kept from falling below zero. */
export function total(ledger: Ledger): number {
  return ledger.cancelled ? 0 : costOf(ledger, (lineId) => activeOf(ledger, lineId));
}

export function payable(ledger: Ledger): number {
  return Math.max(0, total(ledger));
}

export function requestIsOpen(ledger: Ledger, cancelId: string): boolean {
  return (
    ledger.under(`cancel-confirm ${cancelId}`) === undefined &&
    ledger.under(`cancel-reject ${cancelId}`) === undefined
  );
}
