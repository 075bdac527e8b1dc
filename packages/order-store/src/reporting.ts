import assert from "node:assert/strict";
import { derive, OrderState, type EventEnvelope, type Line } from "@junban/orders";
import { sql, type Selectable } from "kysely";
import { EVENT_COLUMNS, LINE_COLUMNS, ORDER_COLUMNS } from "./columns.ts";
import { ask, type MaintenanceContext } from "./locked-order.ts";
import { lineOf, totalsOf } from "./rows.ts";
import type { OrderEvents, Orders } from "./schema.ts";
import { BEGIN_SNAPSHOT, COMMIT, Session } from "./session.ts";
import { bind, db, statement, type NoValues } from "./statement.ts";
import type { DeadLetter, EventReport, HeldReport, OrderReport, StoreGauges, StoreSummary } from "./types.ts";

/** Reading for people. No statement here takes a lock, so none waits for a writer. */

/** Unpublished outbox rows are counted up to here. */
const OUTBOX_COUNTED = 100_000;
/** How near its deadline a held event is worth somebody's look. */
const DUE_SOON = "2 hours";

type Reader = Pick<MaintenanceContext, "pool" | "limits">;
type OrderRow = Pick<Selectable<Orders>, (typeof ORDER_COLUMNS)[number] | "placed_at" | "updated_at">;
type EventRow = Pick<Selectable<OrderEvents>, (typeof EVENT_COLUMNS)[number]>;

const orderOf = statement<{ lcid: string }>()("order_of", ({ lcid }) =>
  db
    .selectFrom("orders")
    .select([...ORDER_COLUMNS, "placed_at", "updated_at"])
    .where("lcid", "=", lcid),
);
const linesOfOrder = statement<{ lcid: string }>()("lines_of_order", ({ lcid }) =>
  db.selectFrom("order_lines").select(LINE_COLUMNS).where("lcid", "=", lcid).orderBy("line_id"),
);
const heldOfOrder = statement<{ lcid: string }>()("held_of_order", ({ lcid }) =>
  db
    .selectFrom("order_events")
    .select(EVENT_COLUMNS)
    .where("lcid", "=", lcid)
    .where("outcome", "=", sql.lit("deferred"))
    .orderBy("arrival"),
);
const alertsOfOrder = statement<{ lcid: string }>()("alerts_of_order", ({ lcid }) =>
  db
    .selectFrom("order_events")
    .select(EVENT_COLUMNS)
    .where("lcid", "=", lcid)
    .where("alert", "=", sql.lit(true))
    .orderBy("arrival"),
);
const historyOf = statement<{ lcid: string }>()("history_of", ({ lcid }) =>
  db.selectFrom("order_events").select(EVENT_COLUMNS).where("lcid", "=", lcid).orderBy("arrival"),
);
const eventOf = statement<{ source: string; id: string }>()("event_of", ({ source, id }) =>
  db.selectFrom("order_events").select(EVENT_COLUMNS).where("source", "=", source).where("event_id", "=", id),
);
const heldByDeadline = statement<{ dueWithinMs: number | null; limit: number }>()(
  "held_by_deadline",
  ({ dueWithinMs, limit }) =>
    db
      .selectFrom("order_events")
      .select(["lcid", "source", "event_id", "type", "reason", "arrival", "published_at", "deferred_until"])
      .where("outcome", "=", sql.lit("deferred"))
      .where(
        sql<boolean>`(${dueWithinMs}::double precision is null
        or deferred_until <= clock_timestamp() + ${dueWithinMs}::double precision * interval '1 millisecond')`,
      )
      .orderBy("deferred_until", (order) => order.asc().nullsLast())
      .orderBy("seq")
      .limit(sql<number>`${limit}::int`),
);
const deadLetters = statement<{
  reason: string | null;
  outcome: string | null;
  lcid: string | null;
  before: number;
  limit: number;
}>()("dead_letters", ({ reason, outcome, lcid, before, limit }) =>
  db
    .selectFrom("order_events")
    .select(EVENT_COLUMNS)
    .where("outcome", "in", [sql.lit("failed"), sql.lit("rejected")])
    .where(
      sql<boolean>`(${reason}::text is null or reason = ${reason}::text or reason like ${reason}::text || ':%')`,
    )
    .where(sql<boolean>`(${outcome}::text is null or outcome = ${outcome}::text)`)
    .where(sql<boolean>`(${lcid}::text is null or lcid = ${lcid}::text)`)
    .where(sql<boolean>`seq < ${before}::bigint`)
    .orderBy("seq", "desc")
    .limit(sql<number>`${limit}::int`),
);
/** Its condition is that of the index of alerts, which a parameter would hide from the planner. */
const openAlerts = statement<{ reason: string | null; lcid: string | null; before: number; limit: number }>()(
  "open_alerts",
  ({ reason, lcid, before, limit }) =>
    db
      .selectFrom("order_events")
      .select(EVENT_COLUMNS)
      .where("alert", "=", sql.lit(true))
      .where(
        sql<boolean>`(${reason}::text is null or reason = ${reason}::text or reason like ${reason}::text || ':%')`,
      )
      .where(sql<boolean>`(${lcid}::text is null or lcid = ${lcid}::text)`)
      .where(sql<boolean>`seq < ${before}::bigint`)
      .orderBy("seq", "desc")
      .limit(sql<number>`${limit}::int`),
);
const countOrders = statement<NoValues>()("count_orders", () =>
  db
    .selectFrom("orders")
    .select(["status", (select) => select.fn.countAll<number>().as("count")])
    .groupBy("status"),
);
const countEvents = statement<NoValues>()("count_events", () =>
  db
    .selectFrom("order_events")
    .select(["outcome", (select) => select.fn.countAll<number>().as("count")])
    .groupBy("outcome"),
);
/** Counts that partial indexes answer, so that they stay cheap however many events there are. */
const gaugesNow = statement<NoValues>()("gauges_now", () =>
  db.selectNoFrom([
    sql<number>`(select count(*) from order_events where outcome = 'deferred')`.as("held"),
    sql<number>`(select count(*) from order_events where outcome = 'deferred'
      and deferred_until <= clock_timestamp() + ${sql.lit(DUE_SOON)}::interval)`.as("heldDueSoon"),
    sql<number>`(select count(*) from orders where halted)`.as("halted"),
    sql<number>`(select count(*) from order_events where outcome = 'failed')`.as("failed"),
    sql<number>`(select count(*) from order_events where alert)`.as("alerts"),
    sql<number>`(select count(*) from order_events where alert and reason = 'OVER_CAPTURE')`.as(
      "overCaptures",
    ),
    sql<number>`(select count(*) from order_events where alert and type = 'inventory.shipped'
      and reason in ('ORDER_CANCELLED', 'LINE_CANCELLED'))`.as("cancelledShipments"),
    sql<number>`(select count(*) from (select 1 from outbox where published_at is null limit ${sql.lit(OUTBOX_COUNTED)}) as counted)`.as(
      "outboxUnpublished",
    ),
    // The oldest by number; numbers are given in nearly the order of time, and this one the primary key answers.
    sql<number>`coalesce((select extract(epoch from clock_timestamp() - created_at) * 1000 from outbox
      where published_at is null order by id limit 1), 0)::double precision`.as("outboxLagMs"),
    sql<number>`(select count(*) from outbox_parked)`.as("outboxParked"),
  ]),
);
export const ping = statement<NoValues>()("ping", () => db.selectNoFrom(sql<number>`1`.as("answer")));

export async function readOrder(reader: Reader, lcid: string): Promise<OrderReport | null> {
  const session = await Session.open(reader.pool, reader.limits);
  try {
    // One snapshot, so that the report shows the order as it stood at one moment.
    const [, orders, lines, held, alerts] = await session.trip([
      BEGIN_SNAPSHOT,
      bind(orderOf, { lcid }),
      bind(linesOfOrder, { lcid }),
      bind(heldOfOrder, { lcid }),
      bind(alertsOfOrder, { lcid }),
      COMMIT,
    ]);
    const row = orders.rows[0];
    return row === undefined
      ? null
      : orderReport(row, { lines: lines.rows.map(lineOf), held: held.rows, alerts: alerts.rows });
  } finally {
    await session.close();
  }
}

function orderReport(
  row: OrderRow,
  { lines, held, alerts }: { lines: readonly Line[]; held: readonly EventRow[]; alerts: readonly EventRow[] },
): OrderReport {
  const { openMinor: _openMinor, ...derived } = derive(
    new OrderState({ totals: totalsOf(row), lines, refs: [] }),
  );
  return {
    ...derived,
    lcid: row.lcid,
    version: row.version,
    currency: row.currency,
    shipGate: row.ship_gate,
    adjustmentMinor: row.adjustment_minor,
    authorizedMinor: row.authorized_minor,
    capturedMinor: row.captured_minor,
    voidedMinor: row.voided_minor,
    refundedMinor: row.refunded_minor,
    openCancels: row.open_cancels,
    paymentFailures: row.payment_failures,
    held: row.held,
    halted: row.halted,
    arrivals: row.arrivals,
    placedAt: row.placed_at,
    updatedAt: row.updated_at,
    lines,
    heldEvents: held.map(heldReport),
    alerts: alerts.map(eventReport),
  };
}

export async function readHistory(reader: Reader, lcid: string): Promise<readonly EventReport[]> {
  return (await ask(reader, bind(historyOf, { lcid }))).map(eventReport);
}

export async function readEvent(
  reader: Reader,
  { source, id }: { source: string; id: string },
): Promise<EventReport | null> {
  const [row] = await ask(reader, bind(eventOf, { source, id }));
  return row === undefined ? null : eventReport(row);
}

export async function listHeld(
  reader: Reader,
  { dueWithinMs, limit }: { dueWithinMs?: number; limit: number },
): Promise<readonly HeldReport[]> {
  return (await ask(reader, bind(heldByDeadline, { dueWithinMs: dueWithinMs ?? null, limit }))).map(
    heldReport,
  );
}

interface DeadQuery {
  readonly reason?: string | null;
  readonly outcome?: "failed" | "rejected" | "alerting" | null;
  readonly lcid?: string | null;
  readonly before?: number;
  readonly limit: number;
}

export async function listDead(
  reader: Reader,
  { reason = null, outcome = null, lcid = null, before = Number.MAX_SAFE_INTEGER, limit }: DeadQuery,
): Promise<readonly DeadLetter[]> {
  const rows = await ask(
    reader,
    outcome === "alerting"
      ? bind(openAlerts, { reason, lcid, before, limit })
      : bind(deadLetters, { reason, outcome, lcid, before, limit }),
  );
  return rows.map((row) => {
    const { event: _event, raw: _raw, ...letter } = eventReport(row);
    return letter;
  });
}

export async function gauges(reader: Reader): Promise<StoreGauges> {
  const [counted] = await ask(reader, bind(gaugesNow, {}));
  return gaugesOf(counted);
}

export async function summary(reader: Reader): Promise<StoreSummary> {
  const session = await Session.open(reader.pool, reader.limits);
  try {
    const [orders, events, trouble] = await session.trip([
      bind(countOrders, {}),
      bind(countEvents, {}),
      bind(gaugesNow, {}),
    ]);
    return {
      ...gaugesOf(trouble.rows[0]),
      ordersByStatus: Object.fromEntries(orders.rows.map(({ status, count }) => [status, count])),
      eventsByOutcome: Object.fromEntries(events.rows.map(({ outcome, count }) => [outcome, count])),
    };
  } finally {
    await session.close();
  }
}

function gaugesOf(counted: StoreGauges | undefined): StoreGauges {
  assert(counted !== undefined, "a select without a table answers with one row");
  return { ...counted, outboxLagMs: Math.max(0, Math.round(counted.outboxLagMs)) };
}

function heldReport(
  row: Pick<
    EventRow,
    "lcid" | "source" | "event_id" | "type" | "reason" | "arrival" | "published_at" | "deferred_until"
  >,
): HeldReport {
  return {
    lcid: row.lcid,
    source: row.source,
    id: row.event_id,
    type: row.type,
    reason: row.reason ?? "",
    arrival: row.arrival,
    publishedAt: row.published_at,
    until: row.deferred_until,
  };
}

export function eventReport(row: EventRow): EventReport {
  return {
    seq: row.seq,
    lcid: row.lcid,
    source: row.source,
    id: row.event_id,
    type: row.type,
    outcome: row.outcome as EventReport["outcome"],
    reason: row.reason,
    detail: row.detail,
    version: row.version,
    arrival: row.arrival,
    publishedAt: row.published_at,
    decidedAt: row.decided_at,
    deferredUntil: row.deferred_until,
    alert: row.alert,
    worker: row.worker,
    event: row.event as EventEnvelope | null,
    raw: row.raw,
  };
}
