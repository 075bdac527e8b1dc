import pg from "pg";

/** Runs one statement on a connection of its own. */
export async function runStatement(url: string, statement: string): Promise<void> {
  await askStatement(url, statement);
}

/** The same, with parameters and with how many rows it answered. */
export async function askStatement(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  // The server may be ended under us at any time: the statement's own failure tells enough.
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query(statement, [...values]);
    return rowCount ?? 0;
  } finally {
    await client.end();
  }
}
