import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, inject } from "vitest";
import { withDatabase } from "./run.ts";

const created: string[] = [];

/** The address of a new, migrated, empty database. It is dropped after the test file, unless somebody is still connected. */
export async function freshDatabase(): Promise<string> {
  const { adminUrl, runId, templateName } = inject("junban");
  const name = `junban_test_${runId}_${randomBytes(5).toString("hex")}`;
  await asAdmin(adminUrl, async (client) =>
    client.query(
      `CREATE DATABASE ${pg.escapeIdentifier(name)} TEMPLATE ${pg.escapeIdentifier(templateName)}`,
    ),
  );
  created.push(name);
  return withDatabase(adminUrl, name);
}

afterAll(async () => {
  if (created.length === 0) return;
  await asAdmin(inject("junban").adminUrl, async (client) => {
    for (const name of created.splice(0)) {
      // Not WITH (FORCE): that would end connections under a test's feet. What is in use goes with the run.
      await client.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)}`).catch(() => undefined);
    }
  });
});

async function asAdmin(adminUrl: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
