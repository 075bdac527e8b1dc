import assert from "node:assert/strict";
import { sql } from "kysely";
import { ask, change, type MaintenanceContext } from "./locked-order.ts";
import { bind, db, statement } from "./statement.ts";
import type { ParkedNews, PutBackResult } from "./types.ts";

/** News that could not be passed on, for people: which ones, why, and once more. */

type Asker = Pick<MaintenanceContext, "pool" | "limits">;

/** So many are moved in one statement, which is well within what a statement may take. */
export const PUT_BACK_AT_ONCE = 1_000;

const parkedNews = statement<{ limit: number; after: number }>()("parked_news", ({ limit, after }) =>
  db
    .selectFrom("outbox_parked")
    .select(["id", "lcid", "version", "payload", "created_at", "parked_at", "reason"])
    .where(sql<boolean>`id > ${after}::bigint`)
    .orderBy("id")
    .limit(sql<number>`${limit}::int`),
);

/**
 * Raw text because kysely's builder has no word for keeping a number that the table would give itself. What stands in the outbox
 * already stays parked.
 */
const putBack = statement<{ ids: readonly number[] }>()("put_back_news", ({ ids }) => ({
  compile: () =>
    sql<{ id: number; isBack: boolean }>`with found as (
        select id, lcid, version, payload, created_at from outbox_parked where id = any(${ids}::bigint[]) for update
      ), back as (
        insert into outbox (id, lcid, version, payload, created_at) overriding system value
        select id, lcid, version, payload, created_at from found order by id
        on conflict do nothing
        returning id
      ), gone as (
        delete from outbox_parked where id in (select id from back)
      )
      select found.id, back.id is not null as "isBack" from found left join back on back.id = found.id order by found.id`.compile(
      db,
    ),
}));

const dropOne = statement<{ id: number }>()("drop_parked", ({ id }) =>
  db.deleteFrom("outbox_parked").where("id", "=", id).returning("id"),
);

export async function dropParked(asker: Asker, id: number): Promise<boolean> {
  return (await change(asker, bind(dropOne, { id }))).length > 0;
}

export async function listParked(
  asker: Asker,
  { limit, after = 0 }: { limit: number; after?: number },
): Promise<readonly ParkedNews[]> {
  const rows = await ask(asker, bind(parkedNews, { limit, after }));
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

export async function putBackParked(asker: Asker, ids: readonly number[]): Promise<PutBackResult> {
  assert(ids.length <= PUT_BACK_AT_ONCE, `at most ${PUT_BACK_AT_ONCE} at once`);
  const rows = await change(asker, bind(putBack, { ids }));
  const known = new Map(rows.map(({ id, isBack }) => [id, isBack]));
  return {
    back: ids.filter((id) => known.get(id) === true),
    standing: ids.filter((id) => known.get(id) === false),
    missing: ids.filter((id) => !known.has(id)),
  };
}
