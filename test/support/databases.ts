import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, inject } from "vitest";
import { withClient, withDatabase } from "./run.ts";

const created: string[] = [];

/** The address of a new, migrated, empty database. It is dropped after the test file, unless somebody is still connected. */
export async function freshDatabase(): Promise<string> {
  const { adminUrl, namePrefix } = inject("junban");
  const name = `${namePrefix}${randomBytes(5).toString("hex")}`;
  await withClient(adminUrl, async (client) => {
    const template = await migratedTemplate(client);
    await client.query(`CREATE DATABASE ${quoted(name)} TEMPLATE ${quoted(template)}`);
  });
  created.push(name);
  return withDatabase(adminUrl, name);
}

/**
 * The database that fresh ones are copied from. The first test of the run that needs it migrates it (so tests that need none
 * do not depend on the store); others wait at an advisory lock. It gets its name when it is complete.
 */
async function migratedTemplate(client: pg.Client): Promise<string> {
  const { adminUrl, namePrefix } = inject("junban");
  const template = `${namePrefix}template`;
  if (await exists(client, template)) return template;
  await client.query("SELECT pg_advisory_lock(hashtext($1))", [template]);
  try {
    if (await exists(client, template)) return template;
    const unfinished = `${template}_unfinished`;
    await client.query(`DROP DATABASE IF EXISTS ${quoted(unfinished)} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${quoted(unfinished)}`);
    const { migrate } = await import("@junban/order-store");
    await migrate({ databaseUrl: withDatabase(adminUrl, unfinished) });
    await client.query(`ALTER DATABASE ${quoted(unfinished)} RENAME TO ${quoted(template)}`);
    return template;
  } finally {
    await client.query("SELECT pg_advisory_unlock(hashtext($1))", [template]);
  }
}

async function exists(client: pg.Client, name: string): Promise<boolean> {
  const found = await client.query("SELECT FROM pg_database WHERE datname = $1", [name]);
  return found.rowCount === 1;
}

function quoted(name: string): string {
  return pg.escapeIdentifier(name);
}

afterAll(async () => {
  if (created.length === 0) return;
  await withClient(inject("junban").adminUrl, async (client) => {
    // Nobody's connection is ended under a test's feet, nor waited for: what is in use goes with the run.
    const used = await client.query<{ datname: string }>("SELECT DISTINCT datname FROM pg_stat_activity");
    const inUse = new Set(used.rows.map(({ datname }) => datname));
    for (const name of created.splice(0)) {
      if (inUse.has(name)) continue;
      await client.query(`DROP DATABASE IF EXISTS ${quoted(name)}`).catch(() => undefined);
    }
  });
});
