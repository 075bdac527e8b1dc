import assert from "node:assert/strict";
import { sql } from "kysely";
import type { MaintenanceContext } from "./locked-order.ts";
import { Session } from "./session.ts";
import { bind, db, statement, type NoValues } from "./statement.ts";

/** One table that every event touches. */
export interface TableHealth {
  readonly name: string;
  /** Rows as the server estimates them: those there are, and those that were left behind by changes. */
  readonly liveRows: number;
  readonly deadRows: number;
  /** With its indexes. */
  readonly bytes: number;
  /** False when somebody switched it off for this table. */
  readonly isAutovacuumed: boolean;
  readonly lastVacuumedAt: Date | null;
}

/** The server behind the store, as it stands. */
export interface StoreHealth {
  /** Such as 180002. */
  readonly versionNumber: number;
  readonly version: string;
  /** A replica takes no writes. */
  readonly isReplica: boolean;
  /** Sessions of this store begin read-only: a replica, or a server that somebody told so, as hosts do when its disk is full. */
  readonly isReadOnly: boolean;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
  readonly autovacuum: string;
  /** Limits as they hold in a session of this store, in milliseconds; 0 is none, null where the server has no such limit. */
  readonly statementTimeoutMs: number | null;
  readonly lockTimeoutMs: number | null;
  readonly idleTransactionTimeoutMs: number | null;
  readonly transactionTimeoutMs: number | null;
  /** Connections that may be open at once, those kept back for administrators left out. */
  readonly connectionLimit: number;
  readonly connections: number;
  /** How long the oldest open transaction of this database has been going on; others' only as far as the server tells. */
  readonly oldestTransactionMs: number;
  /** Transactions and row-lock sets since the oldest one that is not frozen; at about two thousand million all writing stops. */
  readonly transactionAge: number;
  readonly multixactAge: number;
  /** Where a vacuum against that begins by itself. */
  readonly freezeMaxAge: number;
  readonly tables: readonly TableHealth[];
  /** The server's clock, and this host's before the question and after the answer, in milliseconds since 1970. */
  readonly clock: {
    readonly askedAtMs: number;
    readonly serverMs: number;
    readonly answeredAtMs: number;
  };
}

const HOT_TABLES = ["orders", "order_lines", "order_refs", "order_events", "outbox"] as const;

const SETTINGS = [
  "autovacuum",
  "autovacuum_freeze_max_age",
  "fsync",
  "full_page_writes",
  "idle_in_transaction_session_timeout",
  "lock_timeout",
  "max_connections",
  "reserved_connections",
  "server_version",
  "server_version_num",
  "statement_timeout",
  "superuser_reserved_connections",
  "synchronous_commit",
  "transaction_timeout",
] as const;
type Setting = (typeof SETTINGS)[number];

const clockNow = statement<NoValues>()("clock_now", () =>
  db.selectNoFrom(sql<number>`(extract(epoch from clock_timestamp()) * 1000)::double precision`.as("ms")),
);
const settingsNow = statement<NoValues>()("settings_now", () =>
  db.selectNoFrom([
    sql<Record<string, string>>`(select json_object_agg(name, setting) from pg_settings
        where name in (${sql.join(SETTINGS.map((name) => sql.lit(name)))}))`.as("settings"),
    sql<boolean>`pg_is_in_recovery()`.as("isReplica"),
    sql<boolean>`current_setting('transaction_read_only') = 'on'`.as("isReadOnly"),
    sql<number>`(select sum(numbackends)::int from pg_stat_database)`.as("connections"),
    sql<number>`coalesce((select max(extract(epoch from clock_timestamp() - xact_start)) * 1000 from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'), 0)::double precision`.as(
      "oldestTransactionMs",
    ),
    sql<number>`(select age(datfrozenxid) from pg_database where datname = current_database())`.as(
      "transactionAge",
    ),
    sql<number>`(select mxid_age(datminmxid) from pg_database where datname = current_database())`.as(
      "multixactAge",
    ),
  ]),
);
interface TableRow extends Omit<TableHealth, "lastVacuumedAt"> {
  readonly lastVacuumedAt: string | null;
}
const tablesNow = statement<NoValues>()("tables_now", () =>
  db.selectNoFrom(
    sql<readonly TableRow[]>`(select coalesce(json_agg(found order by name), '[]') from (
      select c.relname as name, s.n_live_tup as "liveRows", s.n_dead_tup as "deadRows",
        pg_total_relation_size(c.oid) as bytes,
        coalesce(not c.reloptions && array['autovacuum_enabled=false', 'autovacuum_enabled=off'], true) as "isAutovacuumed",
        greatest(s.last_autovacuum, s.last_vacuum) as "lastVacuumedAt"
      from pg_class c join pg_stat_user_tables s on s.relid = c.oid
      where s.schemaname = any(current_schemas(false)) and c.relname in (${sql.join(
        HOT_TABLES.map((name) => sql.lit(name)),
      )})
    ) as found)`.as("tables"),
  ),
);

/** Reads nothing of the fleet's own tables, so it works before the schema is there. */
export async function readHealth({
  pool,
  limits,
}: Pick<MaintenanceContext, "pool" | "limits">): Promise<StoreHealth> {
  const session = await Session.open(pool, limits);
  try {
    const askedAtMs = Date.now();
    const [clock] = await session.trip([bind(clockNow, {})]);
    const answeredAtMs = Date.now();
    const [now, tables] = await session.trip([bind(settingsNow, {}), bind(tablesNow, {})]);
    const [row] = now.rows;
    assert(row !== undefined, "a select without a table answers with one row");
    const setting = (name: Setting): string => row.settings[name] ?? "";
    const limit = (name: Setting): number | null => (setting(name) === "" ? null : Number(setting(name)));
    return {
      versionNumber: Number(setting("server_version_num")),
      version: setting("server_version"),
      isReplica: row.isReplica,
      isReadOnly: row.isReadOnly,
      fsync: setting("fsync"),
      fullPageWrites: setting("full_page_writes"),
      synchronousCommit: setting("synchronous_commit"),
      autovacuum: setting("autovacuum"),
      statementTimeoutMs: limit("statement_timeout"),
      lockTimeoutMs: limit("lock_timeout"),
      idleTransactionTimeoutMs: limit("idle_in_transaction_session_timeout"),
      transactionTimeoutMs: limit("transaction_timeout"),
      connectionLimit:
        Number(setting("max_connections")) -
        Number(setting("superuser_reserved_connections")) -
        Number(setting("reserved_connections")),
      connections: row.connections,
      oldestTransactionMs: Math.max(0, Math.round(row.oldestTransactionMs)),
      transactionAge: row.transactionAge,
      multixactAge: row.multixactAge,
      freezeMaxAge: Number(setting("autovacuum_freeze_max_age")),
      tables: (tables.rows[0]?.tables ?? []).map((table) => ({
        ...table,
        lastVacuumedAt: table.lastVacuumedAt === null ? null : new Date(table.lastVacuumedAt),
      })),
      clock: { askedAtMs, serverMs: Math.round(clock.rows[0]?.ms ?? 0), answeredAtMs },
    };
  } finally {
    await session.close();
  }
}
