import type { Database } from "./contract.ts";

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

/** Creates the guard's table where it is missing. Twice is harmless; two at once are as well. */
export async function createGuardTable(database: Database): Promise<void> {
  const client = await database.connect();
  try {
    await client.query("begin");
    // Postgres' own "if not exists" can fail when two sessions create at once.
    await client.query("select pg_advisory_xact_lock(hashtext('order_updates_seen'))");
    await client.query(GUARD_TABLE_SQL);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}
