import pg from "pg";

/** What a database weighs and how many use it, as its own statistics tell. */
export interface PostgresFigures {
  /** Sessions of clients in this database. */
  readonly sessions: number;
  /** Rows of all tables. */
  readonly liveRows: number;
  /** Versions of rows that nobody can see any more and that nothing has cleared yet. */
  readonly deadRows: number;
  /** Tables and their indexes, in bytes. */
  readonly bytes: number;
  /** Locks of one row by several transactions that the whole server has recorded so far. */
  readonly multixacts: number;
}

const QUESTION = `
  select
    (select count(*)::int from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()) as sessions,
    (select coalesce(sum(n_live_tup), 0)::float8 from pg_stat_user_tables) as "liveRows",
    (select coalesce(sum(n_dead_tup), 0)::float8 from pg_stat_user_tables) as "deadRows",
    (select coalesce(sum(pg_total_relation_size(relid)), 0)::float8 from pg_stat_user_tables) as bytes,
    (select next_multixact_id::text::float8 - 1 from pg_control_checkpoint()) as multixacts`;

export async function postgresFigures(databaseUrl: string): Promise<PostgresFigures> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // The server may be ended under us at any time: the statement's own failure tells enough.
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<PostgresFigures>(QUESTION);
    const [figures] = rows;
    if (figures === undefined) throw new TypeError("the statistics of Postgres have exactly one row");
    return figures;
  } finally {
    await client.end();
  }
}
