import { randomBytes } from "node:crypto";
import { startPostgres, startRedis } from "@junban/sandbox";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { withClient } from "./run.ts";

/**
 * One Postgres and one Redis for the whole run. Servers named by
 * JUNBAN_TEST_DATABASE_URL and JUNBAN_TEST_REDIS_URL are used instead of our own where set; DATABASE_URL never is.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runId = randomBytes(4).toString("hex");
  const stops: (() => Promise<void>)[] = [];
  const teardown = async (): Promise<void> => {
    for (const stop of stops.toReversed()) await stop();
  };
  try {
    const [adminUrl, redisUrl] = await allOrNone([postgresAddress(stops), redisAddress(stops)]);
    const namePrefix = `junban_test_${runId}_`;
    stops.push(async () => dropDatabases(adminUrl, namePrefix));
    project.provide("junban", { adminUrl, namePrefix, redisUrl });
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}

async function postgresAddress(stops: (() => Promise<void>)[]): Promise<string> {
  const own = process.env["JUNBAN_TEST_DATABASE_URL"];
  if (own !== undefined && own !== "") return own;
  // The run's server dies with the run, so nothing has to survive a loss of power.
  const server = await startPostgres({ fast: true });
  stops.push(async () => server.stop());
  return server.url;
}

async function redisAddress(stops: (() => Promise<void>)[]): Promise<string> {
  const own = process.env["JUNBAN_TEST_REDIS_URL"];
  if (own !== undefined && own !== "") return own;
  const server = await startRedis({ appendOnly: false });
  stops.push(async () => server.stop());
  return server.url;
}

/** Waits for both even when one fails, so that the teardown knows everything that was started. */
async function allOrNone(starting: [Promise<string>, Promise<string>]): Promise<[string, string]> {
  await Promise.allSettled(starting);
  return Promise.all(starting);
}

async function dropDatabases(adminUrl: string, namePrefix: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const found = await client.query<{ datname: string }>(
      "SELECT datname FROM pg_database WHERE starts_with(datname, $1)",
      [namePrefix],
    );
    for (const { datname } of found.rows) {
      await client.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(datname)} WITH (FORCE)`);
    }
  });
}
