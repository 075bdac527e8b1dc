import type { Database } from "./contract.ts";
import { withSession } from "./session.ts";

/**
 * The guard's table, in the subscriber's own database: one row for each name and order. For a migration of one's own, or run
 * by {@link createGuardTable}.
 */
export const GUARD_TABLE_SQL = `create table if not exists order_updates_seen (
  name text collate "C" not null,
  lcid text collate "C" not null,
  version bigint not null default 0,
  waiting_since timestamptz,
  primary key (name, lcid)
) with (fillfactor = 70)`;

const LIMIT_MS = 30_000;

/**
 * Creates the guard's table where it is missing. Twice is harmless; two at once are as well.
 *
 * @throws {GuardUnavailableError} when Postgres did not answer a statement within 30 seconds.
 */
export async function createGuardTable(database: Database): Promise<void> {
  await withSession({ database, limitMs: LIMIT_MS }, async (session) => {
    await session.query("begin");
    // Postgres' own "if not exists" can fail when two sessions create at once.
    await session.query("select pg_advisory_xact_lock(hashtext('order_updates_seen'))");
    await session.query(GUARD_TABLE_SQL);
    await session.query("commit");
  });
}
