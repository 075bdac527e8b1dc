import { sql, type Selectable } from "kysely";
import { ask, type MaintenanceContext } from "./locked-order.ts";
import type { OperatorActions } from "./schema.ts";
import { bind, db, statement } from "./statement.ts";
import type { ActionEnd, ActionReport, NewAction } from "./types.ts";

/** The record of what people did: begun before it is carried out, ended with what came of it. */

type Asker = Pick<MaintenanceContext, "pool" | "limits">;

const ACTION_COLUMNS = [
  "id",
  "begun_at",
  "ended_at",
  "who",
  "act",
  "target",
  "reason",
  "result",
  "detail",
] as const;

const begin = statement<{ who: string; act: string; target: string; reason: string | null }>()(
  "begin_action",
  ({ who, act, target, reason }) =>
    db.insertInto("operator_actions").values({ who, act, target, reason }).returning("id"),
);
const end = statement<{ id: number; result: string; detail: string | null }>()(
  "end_action",
  ({ id, result, detail }) =>
    db
      .updateTable("operator_actions")
      .set({ result, detail, ended_at: sql<Date>`clock_timestamp()` })
      .where("id", "=", id)
      .where("ended_at", "is", null),
);
const one = statement<{ id: number }>()("action_of", ({ id }) =>
  db.selectFrom("operator_actions").select(ACTION_COLUMNS).where("id", "=", id),
);
const newest = statement<{ before: number; limit: number }>()("newest_actions", ({ before, limit }) =>
  db
    .selectFrom("operator_actions")
    .select(ACTION_COLUMNS)
    .where("id", "<", before)
    .orderBy("id", "desc")
    .limit(sql<number>`${limit}::int`),
);

export async function beginAction(
  asker: Asker,
  { who, act, target, reason = null }: NewAction,
): Promise<number> {
  const [row] = await ask(asker, bind(begin, { who, act, target, reason }));
  return row?.id ?? 0;
}

export async function endAction(
  asker: Asker,
  { id, result, detail = null }: { readonly id: number } & ActionEnd,
): Promise<void> {
  await ask(asker, bind(end, { id, result, detail }));
}

export async function readAction(asker: Asker, id: number): Promise<ActionReport | null> {
  const [row] = await ask(asker, bind(one, { id }));
  return row === undefined ? null : actionReport(row);
}

export async function listActions(
  asker: Asker,
  { before = Number.MAX_SAFE_INTEGER, limit }: { readonly before?: number; readonly limit: number },
): Promise<readonly ActionReport[]> {
  return (await ask(asker, bind(newest, { before, limit }))).map(actionReport);
}

function actionReport(row: Selectable<OperatorActions>): ActionReport {
  const { id, begun_at, ended_at, who, act, target, reason, result, detail } = row;
  return {
    id,
    begunAt: begun_at,
    endedAt: ended_at,
    who,
    act,
    target,
    reason,
    result: result as ActionReport["result"],
    detail,
  };
}
