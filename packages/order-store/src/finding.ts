import { sql } from "kysely";
import { EVENT_COLUMNS } from "./columns.ts";
import { ask, type MaintenanceContext } from "./locked-order.ts";
import { eventReport } from "./reporting.ts";
import { bind, db, statement, type NoValues } from "./statement.ts";
import type { EventReport, HaltedOrder, StorePulse, UnknownEvents } from "./types.ts";

/** Reading for people who look for something, or watch. No statement here takes a lock. */

type Asker = Pick<MaintenanceContext, "pool" | "limits">;

/** Different sources looked through for an id that was given without one. */
const SOURCES_LOOKED_AT = 1_000;
/** How far back, in decisions and in time, the delay of the latest ones is measured. */
const LATEST_EVENTS = 500;
const LATEST_SECONDS = 60;
/** Numbers that are looked through for what was decided lately. */
const MOST_COUNTED = 200_000;
const DEAD_LOOKED_AT = 10_000;
const UNKNOWN_LOOKED_AT = 10_000;

/**
 * The key begins with the source. Sources are few and their ids many, so each source is found by a step through the key and asked
 * for the id: reading the whole table would take minutes where this takes a moment.
 */
const eventsOfId = statement<{ id: string; limit: number }>()("events_of_id", ({ id, limit }) =>
  db
    .withRecursive("known", (query) =>
      query.selectNoFrom(sql<string | null>`(select min(source) from order_events)`.as("source")).unionAll(
        query
          .selectFrom("known")
          .select(
            sql<
              string | null
            >`(select min(source) from order_events as next where next.source > known.source)`.as("source"),
          )
          .where("known.source", "is not", null),
      ),
    )
    .selectFrom((query) =>
      query.selectFrom("known").select("source").limit(sql.lit(SOURCES_LOOKED_AT)).as("few"),
    )
    .innerJoin("order_events", (join) =>
      join.onRef("order_events.source", "=", "few.source").on("order_events.event_id", "=", id),
    )
    .select(EVENT_COLUMNS.map((column) => `order_events.${column}` as const))
    .limit(sql<number>`${limit}::int`),
);

const haltedOrders = statement<{ after: string; limit: number }>()("halted_orders", ({ after, limit }) =>
  db
    .selectFrom("orders as o")
    .leftJoinLateral(
      (query) =>
        query
          .selectFrom("order_events as e")
          .select(["e.source", "e.event_id", "e.type", "e.reason", "e.decided_at"])
          .whereRef("e.lcid", "=", "o.lcid")
          .where("e.outcome", "=", sql.lit("failed"))
          .orderBy("e.arrival")
          .limit(sql.lit(1))
          .as("failure"),
      (join) => join.onTrue(),
    )
    .select(["o.lcid", "o.status", "o.held", "o.updated_at"])
    .select(["failure.source", "failure.event_id", "failure.type", "failure.reason", "failure.decided_at"])
    .where("o.halted", "=", sql.lit(true))
    .where("o.lcid", ">", after)
    .orderBy("o.lcid")
    .limit(sql<number>`${limit}::int`),
);

/** The newest number that was given out; null for a role that may not look. */
const NEWEST = sql<
  number | null
>`case when has_sequence_privilege(pg_get_serial_sequence('order_events', 'seq'), 'select')
  then coalesce(pg_sequence_last_value(pg_get_serial_sequence('order_events', 'seq')), 0) end`;

/** Looked at first: without the index the whole table would be read. */
const HAS_INDEX = sql<boolean>`to_regclass('order_events_by_seq') is not null`;

/**
 * The sequence tells which numbers are new, and so where to look; the rows that are there tell which of them were committed. A
 * transaction that is tried and undone again and again takes numbers and leaves no rows.
 */
const pulseNow = statement<{ after: number | null }>()("pulse_now", ({ after }) =>
  db
    .with("given", (query) =>
      query.selectNoFrom([
        NEWEST.as("newest"),
        sql<number | null>`greatest(${after}::bigint, ${NEWEST} - ${sql.lit(MOST_COUNTED)})`.as("after"),
      ]),
    )
    .with("recent", (query) =>
      query
        .selectFrom("order_events")
        .select([
          "seq",
          "version",
          "first_decided_at",
          sql<number>`extract(epoch from first_decided_at - published_at) * 1000`.as("delay"),
        ])
        .where(HAS_INDEX)
        .where(sql<boolean>`seq > (select least(newest - ${sql.lit(LATEST_EVENTS)}, after) from given)`),
    )
    .with("latest", (query) =>
      query
        .selectFrom("recent")
        .select("delay")
        .where(sql<boolean>`seq > (select newest from given) - ${sql.lit(LATEST_EVENTS)}`)
        .where(
          sql<boolean>`first_decided_at > clock_timestamp() - ${sql.lit(LATEST_SECONDS)} * interval '1 second'`,
        ),
    )
    .selectFrom("given")
    .select("newest")
    .select([
      sql<boolean>`${HAS_INDEX} and newest is not null and ${after}::bigint is not null`.as("isCounted"),
      sql<number>`(select count(*) from recent where seq > given.after)`.as("decided"),
      sql<number>`(select count(*) from recent where seq > given.after and version is not null)`.as(
        "applied",
      ),
      sql<number>`(select count(*) from latest)`.as("events"),
      sql<
        number | null
      >`(select percentile_disc(0.5) within group (order by delay) from latest)::double precision`.as("p50"),
      sql<
        number | null
      >`(select percentile_disc(0.99) within group (order by delay) from latest)::double precision`.as("p99"),
    ]),
);

const reasonsOfDead = statement<NoValues>()("reasons_of_dead", () =>
  db.selectNoFrom(
    sql<readonly string[]>`(select coalesce(json_agg(distinct reason order by reason), '[]') from (
      select reason from order_events where outcome in ('failed', 'rejected') order by seq desc limit ${sql.lit(DEAD_LOOKED_AT)}
    ) as dead where reason is not null)`.as("reasons"),
  ),
);
const unknownNow = statement<NoValues>()("unknown_now", () =>
  db
    .with("waiting", (query) =>
      query
        .selectFrom("order_events")
        .select(["type", "decided_at"])
        .where("outcome", "=", sql.lit("deferred"))
        .where("reason", "=", sql.lit("UNSUPPORTED"))
        .limit(sql.lit(UNKNOWN_LOOKED_AT)),
    )
    .selectFrom("waiting")
    .select([
      "type",
      sql<number>`count(*)`.as("count"),
      sql<number>`(extract(epoch from clock_timestamp() - min(decided_at)) * 1000)::double precision`.as(
        "ageMs",
      ),
    ])
    .groupBy("type")
    .orderBy("count", "desc")
    .orderBy("type"),
);

export async function findEvents(
  asker: Asker,
  { id, limit }: { readonly id: string; readonly limit: number },
): Promise<readonly EventReport[]> {
  return (await ask(asker, bind(eventsOfId, { id, limit }))).map(eventReport);
}

export async function listHalted(
  asker: Asker,
  { after = "", limit }: { readonly after?: string; readonly limit: number },
): Promise<readonly HaltedOrder[]> {
  const rows = await ask(asker, bind(haltedOrders, { after, limit }));
  return rows.map(({ lcid, status, held, updated_at, source, event_id, type, reason, decided_at }) => ({
    lcid,
    status,
    held,
    updatedAt: updated_at,
    failure:
      source === null || event_id === null || type === null || decided_at === null
        ? null
        : { source, id: event_id, type, reason, decidedAt: decided_at },
  }));
}

/** @param after a number that was the newest at an earlier look; what came since is counted. */
export async function pulse(
  asker: Asker,
  { after = null }: { readonly after?: number | null } = {},
): Promise<StorePulse> {
  const [row] = await ask(asker, bind(pulseNow, { after }));
  const { newest = null, isCounted = false, decided = 0, applied = 0, events = 0 } = row ?? {};
  const { p50 = null, p99 = null } = row ?? {};
  // Two clocks, Redis's and Postgres's, may disagree by more than the delay.
  const delayOf = (ms: number): number => Math.max(0, Math.round(ms));
  const latest = p50 === null || p99 === null ? null : { events, p50Ms: delayOf(p50), p99Ms: delayOf(p99) };
  return { newest, since: isCounted ? { decided, applied } : null, latest };
}

export async function deadReasons(asker: Asker): Promise<readonly string[]> {
  const [row] = await ask(asker, bind(reasonsOfDead, {}));
  return row?.reasons ?? [];
}

export async function readUnknown(asker: Asker): Promise<UnknownEvents | null> {
  const rows = await ask(asker, bind(unknownNow, {}));
  if (rows.length === 0) return null;
  return {
    events: rows.reduce((sum, { count }) => sum + count, 0),
    oldestMs: Math.max(0, Math.round(Math.max(...rows.map(({ ageMs }) => ageMs)))),
    types: rows.map(({ type }) => type),
  };
}
