import { sql } from "kysely";
import { bind, db, statement, type BoundStatement } from "./statement.ts";
import type { HoldFrom } from "./verdicts.ts";

/** A first decision, to be recorded. `event` is JSON text, or null where it cannot be kept. */
export interface NewEvent {
  readonly source: string;
  readonly event_id: string;
  readonly lcid: string;
  readonly type: string;
  readonly event: string | null;
  readonly raw: string | null;
  readonly outcome: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly version: number | null;
  readonly arrival: number;
  readonly body_digest: string;
  readonly published_ms: number;
  /** How long the event may wait from its first decision on; null when it has no deadline or does not wait. */
  readonly hold_ms: number | null;
  readonly alert: boolean;
}

/** A later decision about an event that is on record already. */
export interface DecidedEvent {
  readonly source: string;
  readonly event_id: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly version: number | null;
  readonly hold_ms: number | null;
  /** Where `hold_ms` counts from: now, or the deadline that stands in the row. */
  readonly hold_from: HoldFrom;
  readonly alert: boolean;
}

export interface LineRow {
  readonly lcid: string;
  readonly line_id: string;
  readonly sku: string;
  readonly added_quantity: number;
  readonly quantity: number;
  readonly peak: number;
  readonly cancelled: number;
  readonly reserved: number;
  readonly released: number;
  readonly shipped: number;
  readonly short_open: number;
  readonly unit_amount_minor: number;
}

export interface RefRow {
  readonly lcid: string;
  readonly kind: string;
  readonly ref: string;
  readonly parent_kind: string | null;
  readonly parent_ref: string | null;
  readonly data_digest: string;
  readonly amount: number;
  readonly used: number;
  readonly voided: number;
  readonly reversed: boolean;
  readonly open: boolean;
  readonly line_id: string | null;
  readonly detail: unknown;
}

export interface OrderRow {
  readonly lcid: string;
  readonly status: string;
  readonly payment_status: string;
  readonly fulfilment_status: string;
  readonly placed: boolean;
  readonly cancelled: boolean;
  readonly currency: string | null;
  readonly ship_gate: string | null;
  readonly adjustment_minor: number;
  readonly payable_minor: number;
  readonly authorized_minor: number;
  readonly captured_minor: number;
  readonly voided_minor: number;
  readonly refunded_minor: number;
  readonly refund_due_minor: number;
  readonly void_due_minor: number;
  readonly release_due: number;
  readonly open_cancels: number;
  readonly payment_failures: number;
  readonly held: number;
  readonly halted: boolean;
  readonly arrivals: number;
  readonly version: number;
}

export interface OutboxRow {
  readonly lcid: string;
  readonly version: number;
  readonly payload: unknown;
}

/** Everything one transaction writes, over all its lanes. */
export interface WriteSet {
  readonly newEvents: readonly NewEvent[];
  readonly decidedEvents: readonly DecidedEvent[];
  readonly newRefs: readonly RefRow[];
  readonly changedRefs: readonly RefRow[];
  readonly lines: readonly LineRow[];
  readonly orders: readonly OrderRow[];
  readonly outbox: readonly OutboxRow[];
}

const NEW_EVENT = sql`r(source text, event_id text, lcid text, type text, event jsonb, raw text, outcome text, reason text, detail text,
  version bigint, arrival bigint, body_digest text, published_ms double precision, hold_ms double precision, alert boolean)`;
const DECIDED_EVENT = sql`r(source text, event_id text, outcome text, reason text, detail text, version bigint, hold_ms double precision,
  hold_from text, alert boolean)`;
const REF = sql`r(lcid text, kind text, ref text, parent_kind text, parent_ref text, data_digest text, amount bigint, used bigint,
  voided bigint, reversed boolean, open boolean, line_id text, detail jsonb)`;
const LINE = sql`r(lcid text, line_id text, sku text, added_quantity int, quantity int, peak int, cancelled int, reserved bigint,
  released bigint, shipped int, short_open bigint, unit_amount_minor bigint)`;
const ORDER = sql`r(lcid text, status text, payment_status text, fulfilment_status text, placed boolean, cancelled boolean, currency text,
  ship_gate text, adjustment_minor bigint, payable_minor bigint, authorized_minor bigint, captured_minor bigint, voided_minor bigint,
  refunded_minor bigint, refund_due_minor bigint, void_due_minor bigint, release_due bigint, open_cancels int, payment_failures int,
  held int, halted boolean, arrivals bigint, version bigint)`;

type WriteValues = {
  newEvents: string;
  decidedEvents: string;
  newRefs: string;
  changedRefs: string;
  lines: string;
  orders: string;
  outbox: string;
  worker: string;
  decided: readonly number[];
};

/** Rows written, in the order of the clauses. */
export interface WriteCounts {
  readonly counts: readonly number[];
}

/**
 * All writes of a transaction in one statement, so that they cost one round trip however many they are. Raw text because
 * several data-modifying clauses over record sets are beyond kysely's builder. `seq` follows the order of the array. The
 * server itself refuses to go on when it wrote more or fewer rows than were decided: the COMMIT is on its way already.
 */
const writeAll = statement<WriteValues>()("write_all", (p) => ({
  compile: () =>
    sql<WriteCounts>`
with new_events as (
  insert into order_events (source, event_id, lcid, type, event, raw, outcome, reason, detail, version, arrival, body_digest,
    published_at, deferred_until, alert, worker)
  select source, event_id, lcid, type, event, raw, outcome, reason, detail, version, arrival, body_digest,
    to_timestamp(published_ms / 1000), clock_timestamp() + hold_ms * interval '1 millisecond', alert, ${p.worker}
  from jsonb_to_recordset(${p.newEvents}::jsonb) as ${NEW_EVENT}
  returning 1
), decided_events as (
  update order_events as e set outcome = r.outcome, reason = r.reason, detail = r.detail, version = r.version, alert = r.alert,
    deferred_until = case when r.hold_from = 'now' then clock_timestamp() else e.deferred_until end
      + r.hold_ms * interval '1 millisecond', decided_at = clock_timestamp(), worker = ${p.worker}
  from jsonb_to_recordset(${p.decidedEvents}::jsonb) as ${DECIDED_EVENT}
  where e.source = r.source and e.event_id = r.event_id and e.outcome <> 'applied'
  returning 1
), new_refs as (
  insert into order_refs (lcid, kind, ref, parent_kind, parent_ref, data_digest, amount, used, voided, reversed, open, line_id, detail)
  select lcid, kind, ref, parent_kind, parent_ref, data_digest, amount, used, voided, reversed, open, line_id, detail
  from jsonb_to_recordset(${p.newRefs}::jsonb) as ${REF}
  returning 1
), changed_refs as (
  update order_refs as f set used = r.used, voided = r.voided, reversed = r.reversed, open = r.open
  from jsonb_to_recordset(${p.changedRefs}::jsonb) as ${REF}
  where f.lcid = r.lcid and f.kind = r.kind and f.ref = r.ref
  returning 1
), written_lines as (
  insert into order_lines as l (lcid, line_id, sku, added_quantity, quantity, peak, cancelled, reserved, released, shipped, short_open,
    unit_amount_minor)
  select lcid, line_id, sku, added_quantity, quantity, peak, cancelled, reserved, released, shipped, short_open, unit_amount_minor
  from jsonb_to_recordset(${p.lines}::jsonb) as ${LINE}
  on conflict (lcid, line_id) do update set quantity = excluded.quantity, peak = excluded.peak, cancelled = excluded.cancelled,
    reserved = excluded.reserved, released = excluded.released, shipped = excluded.shipped, short_open = excluded.short_open
  returning 1
), written_orders as (
  update orders as o set status = r.status, payment_status = r.payment_status, fulfilment_status = r.fulfilment_status,
    placed = r.placed, cancelled = r.cancelled, currency = r.currency, ship_gate = r.ship_gate,
    adjustment_minor = r.adjustment_minor, payable_minor = r.payable_minor, authorized_minor = r.authorized_minor,
    captured_minor = r.captured_minor, voided_minor = r.voided_minor, refunded_minor = r.refunded_minor,
    refund_due_minor = r.refund_due_minor, void_due_minor = r.void_due_minor, release_due = r.release_due,
    open_cancels = r.open_cancels, payment_failures = r.payment_failures, held = r.held, halted = r.halted,
    arrivals = r.arrivals, version = r.version, updated_at = clock_timestamp(),
    placed_at = case when r.placed then coalesce(o.placed_at, clock_timestamp()) end
  from jsonb_to_recordset(${p.orders}::jsonb) as ${ORDER}
  where o.lcid = r.lcid
  returning 1
), news as (
  insert into outbox (lcid, version, payload)
  select lcid, version, payload from jsonb_to_recordset(${p.outbox}::jsonb) as r(lcid text, version bigint, payload jsonb)
  returning 1
)
select case when written = decided then written else refuse_miscount(written, decided) end as counts
from (select array[(select count(*) from new_events), (select count(*) from decided_events), (select count(*) from new_refs),
  (select count(*) from changed_refs), (select count(*) from written_lines), (select count(*) from written_orders),
  (select count(*) from news)] as written, ${p.decided}::bigint[] as decided) as counted`.compile(db),
}));

/** The writing statement with its values. Everything is serialised here, before the transaction sends another byte. */
export function writeOf(set: WriteSet, { worker }: { worker: string }): BoundStatement<WriteCounts> {
  return bind(writeAll, {
    newEvents: newEventsJson(set.newEvents),
    decidedEvents: JSON.stringify(set.decidedEvents),
    newRefs: JSON.stringify(set.newRefs),
    changedRefs: JSON.stringify(set.changedRefs),
    lines: JSON.stringify(set.lines),
    orders: JSON.stringify(set.orders),
    outbox: JSON.stringify(set.outbox),
    worker,
    decided: [
      set.newEvents.length,
      set.decidedEvents.length,
      set.newRefs.length,
      set.changedRefs.length,
      set.lines.length,
      set.orders.length,
      set.outbox.length,
    ],
  });
}

/** The bodies are JSON text already and go in as they are: parsing and printing them again would cost more than the rest. */
function newEventsJson(events: readonly NewEvent[]): string {
  const rows = events.map(({ event, ...rest }) => {
    const row = JSON.stringify(rest);
    return event === null ? row : `${row.slice(0, -1)},"event":${event}}`;
  });
  return `[${rows.join(",")}]`;
}

/** One write set of several orders' sets. */
export function together(sets: readonly WriteSet[]): WriteSet {
  return {
    newEvents: sets.flatMap((set) => set.newEvents),
    decidedEvents: sets.flatMap((set) => set.decidedEvents),
    newRefs: sets.flatMap((set) => set.newRefs),
    changedRefs: sets.flatMap((set) => set.changedRefs),
    lines: sets.flatMap((set) => set.lines),
    orders: sets.flatMap((set) => set.orders),
    outbox: sets.flatMap((set) => set.outbox),
  };
}
