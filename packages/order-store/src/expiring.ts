import { sql } from "kysely";
import { onLockedOrder, type MaintenanceContext } from "./locked-order.ts";
import { bind, db, statement } from "./statement.ts";

/** The end of waiting: held events whose deadline has passed, and the purge of finished orders. Each order on its own. */

const overdue = sql<boolean>`deferred_until <= clock_timestamp()`;

export const ordersWithOverdue = statement<{ after: string; limit: number }>()(
  "orders_with_overdue",
  ({ after, limit }) =>
    db
      .selectFrom("order_events as e")
      .innerJoin("orders as o", "o.lcid", "e.lcid")
      .select("e.lcid")
      .distinct()
      .where("e.outcome", "=", sql.lit("deferred"))
      .where(overdue)
      .where("o.halted", "=", sql.lit(false))
      .where("e.lcid", ">", after)
      .orderBy("e.lcid")
      .limit(sql<number>`${limit}::int`),
);

const expireOverdue = statement<{ lcid: string; worker: string }>()("expire_overdue", ({ lcid, worker }) =>
  db
    .with("expired", (inner) =>
      inner
        .updateTable("order_events")
        .set({
          outcome: sql.lit("rejected"),
          reason: sql<string>`'PREREQ_TIMEOUT:' || reason`,
          // A parcel that left without ever becoming lawful is a discrepancy in the real world.
          alert: sql<boolean>`type = 'inventory.shipped'`,
          deferred_until: sql<null>`null`,
          decided_at: sql<Date>`clock_timestamp()`,
          worker,
        })
        .where("lcid", "=", lcid)
        .where("outcome", "=", sql.lit("deferred"))
        .where(overdue)
        .returning("lcid"),
    )
    .updateTable("orders")
    .set({
      held: sql<number>`held - (select count(*) from expired)`,
      updated_at: sql<Date>`clock_timestamp()`,
    })
    .where("lcid", "=", lcid)
    .returning(sql<number>`(select count(*) from expired)`.as("expired")),
);

/**
 * Rejects an order's overdue held events. A halted order's wait on: what they wait for may be blocked itself.
 */
export async function expireHeld(context: MaintenanceContext, lcid: string): Promise<number> {
  const expired = await onLockedOrder(context, lcid, async (order) => {
    if (order.row.halted) return 0;
    const [row] = await order.read(bind(expireOverdue, { lcid, worker: context.worker }));
    await order.commitWith([]);
    return row?.expired ?? 0;
  });
  return expired ?? 0;
}
