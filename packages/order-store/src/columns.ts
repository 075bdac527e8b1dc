/**
 * Columns by name, never `*`: a statement that was prepared with `*` before a migration added a column fails after it for as
 * long as its connection lives, so a migration would stop every process that was started before it.
 */

/** What the transaction needs of an order: all that cannot be derived. */
export const ORDER_COLUMNS = [
  "lcid",
  "placed",
  "cancelled",
  "currency",
  "ship_gate",
  "adjustment_minor",
  "authorized_minor",
  "captured_minor",
  "voided_minor",
  "refunded_minor",
  "open_cancels",
  "payment_failures",
  "held",
  "halted",
  "arrivals",
  "version",
] as const;

/** What is derived and stored for people. */
export const DERIVED_COLUMNS = [
  "status",
  "payment_status",
  "fulfilment_status",
  "payable_minor",
  "refund_due_minor",
  "void_due_minor",
  "release_due",
] as const;

export const LINE_COLUMNS = [
  "lcid",
  "line_id",
  "sku",
  "added_quantity",
  "quantity",
  "peak",
  "cancelled",
  "reserved",
  "released",
  "shipped",
  "short_open",
  "unit_amount_minor",
] as const;

export const REF_COLUMNS = [
  "lcid",
  "kind",
  "ref",
  "parent_kind",
  "parent_ref",
  "data_digest",
  "amount",
  "used",
  "voided",
  "reversed",
  "open",
  "line_id",
  "detail",
] as const;

/** What people are told of an event. */
export const EVENT_COLUMNS = [
  "seq",
  "lcid",
  "source",
  "event_id",
  "type",
  "outcome",
  "reason",
  "detail",
  "version",
  "arrival",
  "published_at",
  "decided_at",
  "deferred_until",
  "alert",
  "worker",
  "event",
  "raw",
] as const;
