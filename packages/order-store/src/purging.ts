import { sql } from "kysely";
import { committed, NotCommittedError } from "./errors.ts";
import { ask, type MaintenanceContext } from "./locked-order.ts";
import { BEGIN, COMMIT, Session } from "./session.ts";
import { anyOf, bind, db, statement } from "./statement.ts";
import type { PurgedOrder } from "./types.ts";

/** Deleting finished orders, one at a time, each leaving a tombstone that answers for it. */

const finished = sql<boolean>`status in ('completed', 'cancelled') and refund_due_minor = 0 and void_due_minor = 0
  and release_due = 0 and held = 0 and not halted
  and not exists (select from order_events where order_events.lcid = orders.lcid and alert)`;

export const purgeableOrders = statement<{ olderThanMs: number; after: string; limit: number }>()(
  "purgeable_orders",
  ({ olderThanMs, after, limit }) =>
    db
      .selectFrom("orders")
      .select("lcid")
      .where(finished)
      .where(
        "updated_at",
        "<",
        sql<Date>`now() - ${olderThanMs}::double precision * interval '1 millisecond'`,
      )
      .where("lcid", ">", after)
      .orderBy("lcid")
      .limit(sql<number>`${limit}::int`),
);

/** The strong lock from the start: it keeps new child rows out, and is never reached by upgrading a weaker one. */
const lockForDeletion = statement<{ lcid: string }>()("lock_for_deletion", ({ lcid }) =>
  db.selectFrom("orders").select("lcid").where("lcid", "=", lcid).where(finished).forUpdate(),
);

const leaveTombstone = statement<{ lcid: string }>()("leave_tombstone", ({ lcid }) =>
  db
    .insertInto("purged_orders")
    .values({ lcid })
    .onConflict((conflict) => conflict.doNothing()),
);

const deleteLines = statement<{ lcid: string }>()("delete_lines", ({ lcid }) =>
  db.deleteFrom("order_lines").where("lcid", "=", lcid),
);
const deleteRefs = statement<{ lcid: string }>()("delete_refs", ({ lcid }) =>
  db.deleteFrom("order_refs").where("lcid", "=", lcid),
);
const deleteEvents = statement<{ lcid: string }>()("delete_events", ({ lcid }) =>
  db.deleteFrom("order_events").where("lcid", "=", lcid),
);
const deleteOrder = statement<{ lcid: string }>()("delete_order", ({ lcid }) =>
  db.deleteFrom("orders").where("lcid", "=", lcid),
);

const tombstones = statement<{ lcids: readonly string[] }>()("tombstones", ({ lcids }) =>
  db
    .selectFrom("purged_orders")
    .select(["lcid", "purged_at"])
    .where("lcid", "=", anyOf(lcids))
    .orderBy("lcid"),
);

export async function readPurged(
  asker: Pick<MaintenanceContext, "pool" | "limits">,
  lcids: readonly string[],
): Promise<readonly PurgedOrder[]> {
  const rows = await ask(asker, bind(tombstones, { lcids }));
  return rows.map(({ lcid, purged_at }) => ({ lcid, purgedAt: purged_at }));
}

/** Outbox rows stay: what was not published yet still is to be. */
export async function purgeOne({ pool, limits }: MaintenanceContext, lcid: string): Promise<boolean> {
  const session = await Session.open(pool, limits);
  try {
    const [, locked] = await session.trip([BEGIN, bind(lockForDeletion, { lcid })]);
    if (locked.rows.length === 0) return false;
    const answers = await committed(
      session.trip([
        bind(leaveTombstone, { lcid }),
        bind(deleteLines, { lcid }),
        bind(deleteRefs, { lcid }),
        bind(deleteEvents, { lcid }),
        bind(deleteOrder, { lcid }),
        COMMIT,
      ]),
    );
    if (answers[5].command !== "COMMIT") {
      throw new NotCommittedError(`the server answered COMMIT with ${answers[5].command}`);
    }
    return true;
  } finally {
    await session.close();
  }
}
