import { sql } from "kysely";
import { LINE_COLUMNS, ORDER_COLUMNS, REF_COLUMNS } from "./columns.ts";
import { anyOf, db, statement } from "./statement.ts";

/** What the transaction reads before it decides. All of it is found by key, so an order's past costs nothing. */

/**
 * Locks orders against other transitions, in one fixed order, without disturbing inserts of their child rows.
 * Nothing is joined in: a joined row could be from before the lock's holder committed.
 */
export const lockOrders = statement<{ lcids: readonly string[] }>()("lock_orders", ({ lcids }) =>
  db
    .selectFrom("orders")
    .select(ORDER_COLUMNS)
    .where("lcid", "=", anyOf(lcids))
    .orderBy("lcid")
    .forNoKeyUpdate(),
);

/** The same for several orders at once: one that is busy is passed over, for it must not hold up the others. */
export const lockFreeOrders = statement<{ lcids: readonly string[] }>()("lock_free_orders", ({ lcids }) =>
  db
    .selectFrom("orders")
    .select(ORDER_COLUMNS)
    .where("lcid", "=", anyOf(lcids))
    .orderBy("lcid")
    .forNoKeyUpdate()
    .skipLocked(),
);

/** An order before its placement: it gives early events a row to serialise on and to refer to. */
export const insertShells = statement<{ lcids: readonly string[] }>()("insert_shells", ({ lcids }) =>
  db
    .insertInto("orders")
    .columns(["lcid"])
    .expression(
      db
        .selectFrom(sql<{ lcid: string }>`unnest(${lcids}::text[])`.as<"wanted">(sql`wanted(lcid)`))
        .select("wanted.lcid")
        .where((where) =>
          where.not(
            where.exists((inner) =>
              inner
                .selectFrom("purged_orders")
                .select("purged_orders.lcid")
                .whereRef("purged_orders.lcid", "=", "wanted.lcid"),
            ),
          ),
        )
        // Offering a row that exists would wait for whoever is changing it, and with it all the lanes of a group.
        .where((where) =>
          where.not(
            where.exists((inner) =>
              inner.selectFrom("orders").select("orders.lcid").whereRef("orders.lcid", "=", "wanted.lcid"),
            ),
          ),
        )
        .orderBy("wanted.lcid"),
    )
    .onConflict((conflict) => conflict.column("lcid").doNothing())
    .returning("lcid"),
);

/** Which of the lcids exist at all, locked or not, and which were purged. Must come after the lock to see what it waited for. */
export const knownOrders = statement<{ lcids: readonly string[] }>()("known_orders", ({ lcids }) =>
  db
    .selectFrom("orders")
    .select(["lcid", sql<boolean>`false`.as("purged")])
    .where("lcid", "=", anyOf(lcids))
    .unionAll(
      db
        .selectFrom("purged_orders")
        .select(["lcid", sql<boolean>`true`.as("purged")])
        .where("lcid", "=", anyOf(lcids)),
    ),
);

/** Earlier decisions about these very events. The stored body is sent only where it is not literally the same. */
export const inbox = statement<{
  sources: readonly string[];
  ids: readonly string[];
  digests: readonly string[];
}>()("inbox", ({ sources, ids, digests }) =>
  db
    .selectFrom("order_events as seen")
    .innerJoin(
      sql<{
        source: string;
        id: string;
        digest: string;
      }>`unnest(${sources}::text[], ${ids}::text[], ${digests}::text[])`.as<"wanted">(
        sql`wanted(source, id, digest)`,
      ),
      (join) => join.onRef("seen.source", "=", "wanted.source").onRef("seen.event_id", "=", "wanted.id"),
    )
    .select(["wanted.digest", "seen.body_digest", "seen.outcome", "seen.reason", "seen.version"])
    .select(sql`case when seen.body_digest <> wanted.digest then seen.event end`.as("event")),
);

export const linesOf = statement<{ lcids: readonly string[] }>()("lines_of", ({ lcids }) =>
  db.selectFrom("order_lines").select(LINE_COLUMNS).where("lcid", "=", anyOf(lcids)),
);

const NAMED_COLUMNS = REF_COLUMNS.map((column) => `named.${column}` as const);
const FOUND_COLUMNS = REF_COLUMNS.map((column) => `found.${column}` as const);

type RefArrays = { lcids: readonly string[]; kinds: readonly string[]; refs: readonly string[] };

/** The business references named, and the parent of each one found. */
export const refsNamed = statement<RefArrays>()("refs_named", ({ lcids, kinds, refs }) => {
  const wanted = sql<{
    lcid: string;
    kind: string;
    ref: string;
  }>`unnest(${lcids}::text[], ${kinds}::text[], ${refs}::text[])`;
  const named = db
    .selectFrom(wanted.as<"wanted">(sql`wanted(lcid, kind, ref)`))
    .innerJoin("order_refs as named", (join) =>
      join
        .onRef("named.lcid", "=", "wanted.lcid")
        .onRef("named.kind", "=", "wanted.kind")
        .onRef("named.ref", "=", "wanted.ref"),
    )
    .select(NAMED_COLUMNS);
  return db
    .with("named", () => named)
    .selectFrom("named as found")
    .select(FOUND_COLUMNS)
    .unionAll((also) =>
      also
        .selectFrom("named")
        .innerJoin("order_refs as found", (join) =>
          join
            .onRef("found.lcid", "=", "named.lcid")
            .onRef("found.kind", "=", "named.parent_kind")
            .onRef("found.ref", "=", "named.parent_ref"),
        )
        .select(FOUND_COLUMNS),
    );
});

const WAITING_COLUMNS = [
  "lcid",
  "source",
  "event_id",
  "type",
  "event",
  "reason",
  "arrival",
  "body_digest",
] as const;

/** Held events that an application may bring to a decision. Blocked and unsupported ones wait for something else. */
export const heldOf = statement<{ lcids: readonly string[] }>()("held_of", ({ lcids }) =>
  db
    .selectFrom("order_events")
    .select(WAITING_COLUMNS)
    .where("lcid", "=", anyOf(lcids))
    .where("outcome", "=", sql.lit("deferred"))
    .where("reason", "not in", [sql.lit("BLOCKED"), sql.lit("UNSUPPORTED")])
    .orderBy("lcid")
    .orderBy("arrival"),
);

/** Events of one order deferred for one reason, by arrival, from behind `after`. */
export const deferredFor = statement<{ lcid: string; reason: string; after: number; limit: number }>()(
  "deferred_for",
  ({ lcid, reason, after, limit }) =>
    db
      .selectFrom("order_events")
      .select(WAITING_COLUMNS)
      .where("lcid", "=", lcid)
      .where("outcome", "=", sql.lit("deferred"))
      .where("reason", "=", reason)
      .where("arrival", ">", after)
      .orderBy("arrival")
      .limit(sql<number>`${limit}::int`),
);

/** Events that an older build did not know, over all orders, from behind one of them. */
export const unsupportedEvents = statement<{ lcid: string; arrival: number; limit: number }>()(
  "unsupported_events",
  ({ lcid, arrival, limit }) =>
    db
      .selectFrom("order_events")
      .select(WAITING_COLUMNS)
      .where("outcome", "=", sql.lit("deferred"))
      .where("reason", "=", sql.lit("UNSUPPORTED"))
      .where(sql<boolean>`(lcid, arrival) > (${lcid}::text, ${arrival}::bigint)`)
      .orderBy("lcid")
      .orderBy("arrival")
      .limit(sql<number>`${limit}::int`),
);

/** One event by its identity, with what an operator's call needs. */
export const eventForOperator = statement<{ source: string; id: string }>()(
  "event_for_operator",
  ({ source, id }) =>
    db
      .selectFrom("order_events")
      .select([...WAITING_COLUMNS, "outcome", "alert", "version"])
      .where("source", "=", source)
      .where("event_id", "=", id),
);

/** How many events of an order stand failed, and how many are blocked behind them, in front of the given arrival. */
export const standingInFront = statement<{ lcid: string; before: number }>()(
  "standing_in_front",
  ({ lcid, before }) =>
    db
      .selectFrom("order_events")
      .select((select) => [
        select.fn.countAll<number>().filterWhere("outcome", "=", sql.lit("failed")).as("failed"),
        select.fn.countAll<number>().filterWhere("reason", "=", sql.lit("BLOCKED")).as("blocked"),
      ])
      .where("lcid", "=", lcid)
      .where("arrival", "<", before)
      .where((where) =>
        where.or([where("outcome", "=", sql.lit("failed")), where("outcome", "=", sql.lit("deferred"))]),
      ),
);
