import type { Derived, Line, OrderTotals } from "@junban/orders";

/** An order at one moment of its history. */
export interface Moment {
  readonly totals: OrderTotals;
  readonly derived: Derived;
  readonly lines: ReadonlyMap<string, Line>;
}

type TotalsField = Exclude<keyof OrderTotals, "lcid" | "version">;
export type LineField = Exclude<keyof Line, "lineId" | "addedQuantity" | "peak">;
export type OrderField = keyof Derived | TotalsField;

type Value = string | number | boolean | null;

/** One thing that is different after an event. */
export type Change =
  | { readonly kind: "order"; readonly field: OrderField; readonly from: Value; readonly to: Value }
  | { readonly kind: "new-line"; readonly line: Line }
  | {
      readonly kind: "line";
      readonly lineId: string;
      readonly sku: string;
      readonly field: LineField;
      readonly from: Value;
      readonly to: Value;
    };

/** In the order in which people ask: how does it stand, what about the money, what about the goods. */
const DERIVED_FIELDS: readonly (keyof Derived)[] = [
  "status",
  "paymentStatus",
  "fulfilmentStatus",
  "payableMinor",
  "refundDueMinor",
  "voidDueMinor",
  "openMinor",
  "releaseDue",
];
const TOTALS_FIELDS: readonly TotalsField[] = [
  "currency",
  "shipGate",
  "adjustmentMinor",
  "authorizedMinor",
  "capturedMinor",
  "voidedMinor",
  "refundedMinor",
  "openCancels",
  "paymentFailures",
];
const LINE_FIELDS: readonly LineField[] = [
  "sku",
  "unitAmountMinor",
  "quantity",
  "cancelled",
  "reserved",
  "released",
  "shipped",
  "shortOpen",
];

/** @param before null for an order that was not there yet: everything that is not empty is new. */
export function changesBetween(before: Moment | null, after: Moment): readonly Change[] {
  return [
    ...fieldChanges(DERIVED_FIELDS, before?.derived ?? NOTHING_DERIVED, after.derived),
    ...fieldChanges(TOTALS_FIELDS, before?.totals ?? NOTHING_COUNTED, after.totals),
    ...[...after.lines.values()].flatMap((line) => lineChanges(before?.lines.get(line.lineId), line)),
  ];
}

const NOTHING_DERIVED: Derived = {
  status: "awaiting_placement",
  paymentStatus: "unpaid",
  fulfilmentStatus: "unallocated",
  payableMinor: 0,
  refundDueMinor: 0,
  voidDueMinor: 0,
  openMinor: 0,
  releaseDue: 0,
};

const NOTHING_COUNTED: Pick<OrderTotals, TotalsField> = {
  placed: false,
  cancelled: false,
  currency: null,
  shipGate: null,
  adjustmentMinor: 0,
  authorizedMinor: 0,
  capturedMinor: 0,
  voidedMinor: 0,
  refundedMinor: 0,
  openCancels: 0,
  paymentFailures: 0,
};

function fieldChanges<Field extends OrderField>(
  fields: readonly Field[],
  before: Readonly<Record<Field, Value>>,
  after: Readonly<Record<Field, Value>>,
): readonly Change[] {
  return fields
    .filter((field) => before[field] !== after[field])
    .map((field) => ({ kind: "order", field, from: before[field], to: after[field] }));
}

function lineChanges(before: Line | undefined, line: Line): readonly Change[] {
  if (before === undefined) return [{ kind: "new-line", line }];
  const { lineId, sku } = line;
  return LINE_FIELDS.filter((field) => before[field] !== line[field]).map((field) => ({
    kind: "line",
    lineId,
    sku,
    field,
    from: before[field],
    to: line[field],
  }));
}
