import {
  OrderState,
  type CancelDetail,
  type Line,
  type OrderTotals,
  type Ref,
  type RefKind,
} from "@junban/orders";
import type { Derived } from "@junban/orders";
import type { LineRow, OrderRow, RefRow } from "./writing.ts";

/** Between the rows of the tables and the values of the domain. */

/** An order's row as the transaction reads it: what cannot be derived. */
export type StoredOrder = Omit<
  OrderRow,
  | "status"
  | "payment_status"
  | "fulfilment_status"
  | "payable_minor"
  | "refund_due_minor"
  | "void_due_minor"
  | "release_due"
>;

/** What the store keeps about an order beside its state. */
export interface Bookkeeping {
  readonly held: number;
  readonly halted: boolean;
  readonly arrivals: number;
}

export function totalsOf(row: StoredOrder): OrderTotals {
  return {
    lcid: row.lcid,
    placed: row.placed,
    cancelled: row.cancelled,
    currency: row.currency,
    shipGate: row.ship_gate as OrderTotals["shipGate"],
    adjustmentMinor: row.adjustment_minor,
    authorizedMinor: row.authorized_minor,
    capturedMinor: row.captured_minor,
    voidedMinor: row.voided_minor,
    refundedMinor: row.refunded_minor,
    openCancels: row.open_cancels,
    paymentFailures: row.payment_failures,
    version: row.version,
  };
}

export function lineOf(row: LineRow): Line {
  return {
    lineId: row.line_id,
    sku: row.sku,
    unitAmountMinor: row.unit_amount_minor,
    addedQuantity: row.added_quantity,
    quantity: row.quantity,
    peak: row.peak,
    cancelled: row.cancelled,
    reserved: row.reserved,
    released: row.released,
    shipped: row.shipped,
    shortOpen: row.short_open,
  };
}

function refOf(row: RefRow): Ref {
  const { parent_kind: kind, parent_ref: ref } = row;
  return {
    kind: row.kind as RefKind,
    ref: row.ref,
    parent: kind === null || ref === null ? null : { kind: kind as RefKind, ref },
    dataDigest: row.data_digest,
    amount: row.amount,
    used: row.used,
    voided: row.voided,
    reversed: row.reversed,
    open: row.open,
    lineId: row.line_id,
    detail: row.detail as CancelDetail | null,
  };
}

export function stateOf(order: StoredOrder, lines: readonly LineRow[], refs: readonly RefRow[]): OrderState {
  return new OrderState({ totals: totalsOf(order), lines: lines.map(lineOf), refs: refs.map(refOf) });
}

export function orderRow(totals: OrderTotals, derived: Derived, bookkeeping: Bookkeeping): OrderRow {
  return {
    lcid: totals.lcid,
    status: derived.status,
    payment_status: derived.paymentStatus,
    fulfilment_status: derived.fulfilmentStatus,
    placed: totals.placed,
    cancelled: totals.cancelled,
    currency: totals.currency,
    ship_gate: totals.shipGate,
    adjustment_minor: totals.adjustmentMinor,
    payable_minor: derived.payableMinor,
    authorized_minor: totals.authorizedMinor,
    captured_minor: totals.capturedMinor,
    voided_minor: totals.voidedMinor,
    refunded_minor: totals.refundedMinor,
    refund_due_minor: derived.refundDueMinor,
    void_due_minor: derived.voidDueMinor,
    release_due: derived.releaseDue,
    open_cancels: totals.openCancels,
    payment_failures: totals.paymentFailures,
    held: bookkeeping.held,
    halted: bookkeeping.halted,
    arrivals: bookkeeping.arrivals,
    version: totals.version,
  };
}

export function lineRow(lcid: string, line: Line): LineRow {
  return {
    lcid,
    line_id: line.lineId,
    sku: line.sku,
    added_quantity: line.addedQuantity,
    quantity: line.quantity,
    peak: line.peak,
    cancelled: line.cancelled,
    reserved: line.reserved,
    released: line.released,
    shipped: line.shipped,
    short_open: line.shortOpen,
    unit_amount_minor: line.unitAmountMinor,
  };
}

export function refRow(lcid: string, ref: Ref): RefRow {
  return {
    lcid,
    kind: ref.kind,
    ref: ref.ref,
    parent_kind: ref.parent?.kind ?? null,
    parent_ref: ref.parent?.ref ?? null,
    data_digest: ref.dataDigest,
    amount: ref.amount,
    used: ref.used,
    voided: ref.voided,
    reversed: ref.reversed,
    open: ref.open,
    line_id: ref.lineId,
    detail: ref.detail,
  };
}
