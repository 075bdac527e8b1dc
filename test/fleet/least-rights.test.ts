import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { startRedis } from "@junban/sandbox";
import { Redis } from "ioredis";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { blocksIn, eventually, freshDatabase } from "../support/index.ts";
import { withClient } from "../support/run.ts";
import { eventsOf, freshLcid, publish, rowsOf, startWorker, type Place } from "./worker-lab.ts";

/** The rights that docs/security.md gives to the fleet, as they stand there. */
const page = await readFile(new URL("../../docs/security.md", import.meta.url), "utf8");
const [rights = ""] = blocksIn(page, { language: "sql" });
const [acl = ""] = blocksIn(page, { language: "redis" });

const LIMIT_MS = 120_000;
const password = randomBytes(16).toString("hex");

beforeAll(() => {
  expect(rights).toContain("create role junban_fleet");
  expect(acl).toContain("ACL SETUSER junban");
});

/** The fleet's database as a role that owns nothing. Roles are the server's, so it has a name of its own and goes. */
async function asLesserRole(): Promise<string> {
  const databaseUrl = await freshDatabase();
  const role = `junban_fleet_${randomBytes(4).toString("hex")}`;
  await withClient(databaseUrl, async (client) =>
    client.query(rights.replaceAll("junban_fleet", role).replace("PASSWORD", password)),
  );
  onTestFinished(async () => {
    await withClient(databaseUrl, async (client) => client.query(`drop owned by ${role}; drop role ${role}`));
  });
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = password;
  return url.href;
}

/** A Redis as a user that reaches the fleet's keys, and may not administer it. */
async function asLesserUser(): Promise<string> {
  const server = await startRedis();
  onTestFinished(async () => server.stop());
  const admin = new Redis(server.url);
  onTestFinished(() => admin.disconnect());
  const [, ...words] = acl.replace("PASSWORD", password).trim().split(/\s+/);
  await admin.call("ACL", ...words);
  const url = new URL(server.url);
  url.username = "junban";
  url.password = password;
  return url.href;
}

test(
  "a worker, its relay and a publisher need no more rights in Postgres and Redis than docs/security.md gives them",
  async () => {
    const place: Place = {
      databaseUrl: await asLesserRole(),
      redisUrl: await asLesserUser(),
      prefix: "junban",
    };
    const worker = await startWorker(place, { JUNBAN_RELAY: "on" });
    const events = eventsOf(freshLcid(), 5);
    await publish(place, events);
    await eventually(async () => expect(await rowsOf(place)).toHaveLength(events.length), {
      withinMs: 30_000,
    });
    await eventually(
      async () =>
        withClient(place.databaseUrl, async (client) => {
          const { rows } = await client.query("select from outbox");
          expect(rows).toEqual([]);
        }),
      { withinMs: 30_000 },
    );
    expect((await worker.get("/readyz")).status).toBe(200);
    worker.tree.signal("SIGTERM");
    expect(await worker.exited).toEqual({ code: 0, signal: null });
    expect(worker.tree.stdout()).not.toMatch(/NOPERM|permission denied/);
  },
  LIMIT_MS,
);

test("and cannot drop a table, or tell Redis what to do with its memory and its file", async () => {
  const databaseUrl = await asLesserRole();
  const drop = withClient(databaseUrl, async (client) => client.query("drop table orders"));
  await expect(drop).rejects.toMatchObject({ code: "42501" });
  const redis = new Redis(await asLesserUser());
  onTestFinished(() => redis.disconnect());
  for (const command of [
    ["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"],
    ["FLUSHALL"],
    ["GET", "another"],
  ]) {
    const [name = "", ...rest] = command;
    await expect(redis.call(name, ...rest), name).rejects.toThrow(/NOPERM/);
  }
});
