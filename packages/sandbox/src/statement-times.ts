import pg from "pg";
import type { PostgresOptions, PostgresServer } from "./postgres.ts";

/** What the server did for all statements of one text, as pg_stat_statements counts it. */
export interface StatementTime {
  /** With its constants replaced by `$1`, `$2` and so on. */
  readonly text: string;
  readonly calls: number;
  readonly rows: number;
  /** Time of execution, all calls together, waiting included. */
  readonly totalMs: number;
  readonly walBytes: number;
}

/** Settings of a server whose statements are to be counted. */
export const STATEMENT_TIMES: NonNullable<PostgresOptions["settings"]> = {
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.track_planning": "off",
};

/** Forgets what was counted so far. The server must have been started with `STATEMENT_TIMES`. */
export async function forgetStatementTimes({ url }: Pick<PostgresServer, "url">): Promise<void> {
  await withClient(url, async (client) => {
    await client.query("create extension if not exists pg_stat_statements");
    await client.query("select pg_stat_statements_reset()");
  });
}

/** What was counted in the database at this address, the largest sum of time first. */
export async function statementTimes(
  { url }: Pick<PostgresServer, "url">,
  database: string,
): Promise<readonly StatementTime[]> {
  const name = decodeURIComponent(new URL(database).pathname.slice(1));
  return withClient(url, async (client) => {
    const { rows } = await client.query<StatementTime>(
      `select query as text, calls::float8, rows::float8, total_exec_time as "totalMs", wal_bytes::float8 as "walBytes"
       from pg_stat_statements join pg_database on pg_database.oid = dbid
       where datname = $1 order by total_exec_time desc`,
      [name],
    );
    return rows;
  });
}

async function withClient<Result>(url: string, use: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  // The server may be ended under us at any time: the statement's own failure tells enough.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
