import { sql } from "kysely";
import { ask, type MaintenanceContext } from "./locked-order.ts";
import { bind, db, statement } from "./statement.ts";
import type { ParkedNews } from "./types.ts";

/** News that could not be passed on, for people: which ones, why, and once more. */

type Asker = Pick<MaintenanceContext, "pool" | "limits">;

const parkedNews = statement<{ limit: number }>()("parked_news", ({ limit }) =>
  db
    .selectFrom("outbox_parked")
    .select(["id", "lcid", "version", "payload", "created_at", "parked_at", "reason"])
    .orderBy("id")
    .limit(sql<number>`${limit}::int`),
);

/** Raw text because kysely's builder has no word for keeping a number that the table would give itself. */
const putBack = statement<{ ids: readonly number[] }>()("put_back_news", ({ ids }) => ({
  compile: () =>
    sql<{ id: number }>`with taken as (
        delete from outbox_parked where id = any(${ids}::bigint[]) returning id, lcid, version, payload, created_at
      )
      insert into outbox (id, lcid, version, payload, created_at) overriding system value
      select id, lcid, version, payload, created_at from taken
      returning id`.compile(db),
}));

export async function listParked(asker: Asker, { limit }: { limit: number }): Promise<readonly ParkedNews[]> {
  const rows = await ask(asker, bind(parkedNews, { limit }));
  return rows.map(({ id, lcid, version, payload, created_at, parked_at, reason }) => ({
    id,
    lcid,
    version,
    payload,
    createdAt: created_at,
    parkedAt: parked_at,
    reason,
  }));
}

export async function putBackParked(asker: Asker, ids: readonly number[]): Promise<readonly number[]> {
  const rows = await ask(asker, bind(putBack, { ids }));
  return rows.map(({ id }) => id);
}
