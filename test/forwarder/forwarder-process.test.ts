import { fileURLToPath } from "node:url";
import { startProcess, startRedis } from "@junban/sandbox";
import type { ProcessTree } from "@junban/sandbox";
import { enqueueEvent } from "@junban/upstream-outbox";
import { Redis } from "ioredis";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, freshDatabase, freshRedis } from "../support/index.ts";

const MAIN = fileURLToPath(new URL("../../apps/forwarder/src/main.ts", import.meta.url));
const LIMIT_MS = 120_000;

type Environment = Readonly<Record<string, string>>;

async function launch(env: Environment, ...args: string[]): Promise<ProcessTree> {
  const tree = await startProcess({
    command: process.execPath,
    args: ["--import", "tsx", "--conditions", "@junban/source", MAIN, ...args],
    env: { PATH: process.env["PATH"], JUNBAN_HTTP_PORT: "0", ...env },
  });
  onTestFinished(async () => void (await tree.stop({ signal: "SIGKILL" })));
  return tree;
}

async function freshEnvironment(): Promise<Environment> {
  const { url, prefix } = freshRedis();
  return {
    DATABASE_URL: await freshDatabase(),
    REDIS_URL: url,
    JUNBAN_PREFIX: prefix,
    JUNBAN_POLL_MS: "100",
  };
}

async function portOf(tree: ProcessTree): Promise<number> {
  const line = await tree.waitForLine("the forwarder runs", { withinMs: 60_000 });
  return (JSON.parse(line) as { httpPort: number }).httpPort;
}

async function readiness(port: number): Promise<{ status: number; detail: unknown }> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: response.status, detail: await response.json() };
}

function valueIn(metrics: string, name: string): number {
  const [, value] = new RegExp(`^${name} (.+)$`, "m").exec(metrics) ?? [];
  return Number(value);
}

async function metricsOf(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

/** With an event that waits longer than it really does, where an age is given. */
async function enqueue(env: Environment, event: object, ageSeconds = 0): Promise<void> {
  const client = new pg.Client({ connectionString: env["DATABASE_URL"] ?? "" });
  await client.connect();
  await client.query("BEGIN");
  await enqueueEvent(client, event);
  await client.query(
    "update junban_upstream.events set enqueued_at = enqueued_at - make_interval(secs => $1)",
    [ageSeconds],
  );
  await client.query("COMMIT");
  await client.end();
}

const EVENT = {
  specversion: "1.0",
  id: "e-1",
  source: "/shop",
  type: "cancel.confirmed",
  lcid: "A-1",
  data: { cancelId: "c-1" },
};

describe("the forwarder's process", () => {
  test(
    "waits for an outbox, forwards, tells in its metrics what it did, and stops cleanly",
    async () => {
      const env = await freshEnvironment();
      const forwarder = await launch(env);
      const port = await portOf(forwarder);
      await eventually(async () =>
        expect(await readiness(port)).toMatchObject({ status: 503, detail: { why: "OUTBOX_MISSING" } }),
      );
      expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);

      const migration = await launch(env, "migrate");
      expect(await migration.exited).toEqual({ code: 0, signal: null });
      expect(migration.stdout()).toBe("applied 0001_upstream_outbox\n");
      await eventually(
        async () =>
          expect(await readiness(port)).toEqual({
            status: 200,
            detail: { ok: true, redis: "answers", postgres: "answers", role: "active" },
          }),
        { withinMs: 30_000 },
      );

      await enqueue(env, EVENT, 90);
      const redis = freshRedis().connect();
      await eventually(async () => expect(await redis.llen(`${env["JUNBAN_PREFIX"]}:wait:{A-1}`)).toBe(1));
      await eventually(async () => {
        const metrics = await metricsOf(port);
        expect(metrics).toMatch(/^junban_forward_rows_total 1$/m);
        expect(metrics).toMatch(/^junban_forward_waiting 0$/m);
        expect(valueIn(metrics, "junban_forward_oldest_seconds")).toBe(0);
        expect(valueIn(metrics, "junban_forward_lag_seconds_count")).toBe(1);
        expect(valueIn(metrics, "junban_forward_lag_seconds_sum")).toBeGreaterThan(90);
        expect(valueIn(metrics, "junban_forward_lag_seconds_sum")).toBeLessThan(300);
        expect(metrics).toMatch(/^junban_forward_active 1$/m);
        expect(metrics).not.toContain("A-1");
      });

      forwarder.signal("SIGTERM");
      expect(await forwarder.exited).toEqual({ code: 0, signal: null });
    },
    LIMIT_MS,
  );

  test(
    "stops cleanly while neither service is there, and says before that what is missing",
    async () => {
      const forwarder = await launch({
        DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
        REDIS_URL: "redis://127.0.0.1:1",
      });
      const port = await portOf(forwarder);
      await eventually(async () =>
        expect(await readiness(port)).toMatchObject({
          status: 503,
          detail: { redis: "silent", postgres: "silent", role: "connecting", why: "POSTGRES_AWAY" },
        }),
      );
      // Not 0: nobody knows how many wait.
      expect(await metricsOf(port)).toMatch(/^junban_forward_waiting nan$/im);
      forwarder.signal("SIGTERM");
      expect(await forwarder.exited).toEqual({ code: 0, signal: null });
    },
    LIMIT_MS,
  );

  test(
    "counts nothing as forwarded that fewer replicas than asked for have, and tells how long the first has waited",
    async () => {
      const env = { ...(await freshEnvironment()), JUNBAN_FORWARD_REPLICAS: "1" };
      const migration = await launch(env, "migrate");
      expect(await migration.exited).toEqual({ code: 0, signal: null });
      await enqueue(env, EVENT, 100);
      const port = await portOf(await launch(env));
      await eventually(
        async () =>
          expect(await readiness(port)).toMatchObject({ status: 503, detail: { why: "REPLICAS_BEHIND" } }),
        { withinMs: 60_000 },
      );
      const metrics = await metricsOf(port);
      expect(metrics).toMatch(/^junban_forward_waiting 1$/m);
      expect(metrics).toMatch(/^junban_forward_rows_total 0$/m);
      expect(valueIn(metrics, "junban_forward_lag_seconds_count")).toBe(0);
      const early = valueIn(metrics, "junban_forward_oldest_seconds");
      expect(early).toBeGreaterThan(100);
      expect(early).toBeLessThan(300);
      await eventually(async () =>
        expect(valueIn(await metricsOf(port), "junban_forward_oldest_seconds")).toBeGreaterThan(early),
      );
    },
    LIMIT_MS,
  );

  test(
    "refuses a Redis that may evict keys with 2, and tells of one that may since it started",
    async () => {
      const server = await startRedis({ appendOnly: false, settings: { "maxmemory-policy": "allkeys-lru" } });
      onTestFinished(async () => server.stop());
      const env = { ...(await freshEnvironment()), REDIS_URL: server.url };
      const refused = await launch(env);
      await expect(refused.waitForLine("the forwarder runs", { withinMs: 60_000 })).rejects.toThrow();
      expect(await refused.exited).toEqual({ code: 2, signal: null });
      expect(refused.stdout()).toContain("set it to noeviction");

      const redis = new Redis(server.url);
      onTestFinished(() => redis.disconnect());
      await redis.config("SET", "maxmemory-policy", "noeviction");
      const forwarder = await launch(env);
      const port = await portOf(forwarder);
      await redis.config("SET", "maxmemory-policy", "volatile-ttl");
      await forwarder.waitForLine("maxmemory-policy volatile-ttl", { withinMs: 20_000 });
      expect(await readiness(port)).toMatchObject({ status: 503, detail: { redis: "may-evict" } });
    },
    LIMIT_MS,
  );

  test(
    "cannot migrate a server that is not there, and ends with 3",
    async () => {
      const migration = await launch({ DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" }, "migrate");
      expect(await migration.exited).toEqual({ code: 3, signal: null });
      expect(migration.stderr()).toContain("there is no connection to the producer's Postgres");
    },
    LIMIT_MS,
  );

  test.each([
    ["a bad variable", { JUNBAN_FORWARD_KEEP_MS: "soon" }, [], "JUNBAN_FORWARD_KEEP_MS"],
    ["a word that it does not know", {}, ["migrate", "down"], "usage"],
  ])(
    "ends with 2 for %s, and says which",
    async (_what, env, args, said) => {
      const forwarder = await launch({ ...(await freshEnvironment()), ...env }, ...args);
      expect(await forwarder.exited).toEqual({ code: 2, signal: null });
      expect(forwarder.stderr()).toContain(said);
    },
    LIMIT_MS,
  );
});
