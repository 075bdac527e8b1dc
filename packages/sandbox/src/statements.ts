import pg from "pg";

/** Runs one statement on a connection of its own. */
export async function runStatement(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  // The server may be ended under us at any time: the statement's own failure tells enough.
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
