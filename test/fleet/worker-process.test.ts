import { createQueueReader } from "@junban/event-queues";
import { createLanes } from "@junban/handoff-lock";
import { startRedis } from "@junban/sandbox";
import type { ProcessExit, ProcessTree } from "@junban/sandbox";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import {
  environmentOf,
  eventsOf,
  expectPublishOrder,
  freshLcid,
  freshPlace,
  holdOrder,
  idsOf,
  launchWorker,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
  waitingForLocks,
} from "./worker-lab.ts";
import type { Place } from "./worker-lab.ts";

const LIMIT_MS = 120_000;

async function jobsLeft(place: Place): Promise<{ active: number; toFetch: number; failed: number }> {
  const reader = createQueueReader({ redis: place.redisUrl, prefix: place.prefix });
  try {
    const left = { active: 0, toFetch: 0, failed: 0 };
    for (const counts of Object.values(await reader.counts())) {
      left.active += counts.active;
      left.toFetch += counts.waiting + counts.prioritized + counts.delayed;
      left.failed += counts.failed;
    }
    return left;
  } finally {
    await reader.close();
  }
}

describe("the worker's process", () => {
  test(
    "applies what was published, in publish order, and ends every job; probes and metrics tell so",
    async () => {
      const place = await freshPlace();
      const [one, other] = [freshLcid(), freshLcid()];
      await publish(place, [...eventsOf(one, 40), ...eventsOf(other, 3)]);
      const worker = await startWorker(place);
      await eventually(async () => (await rowsOf(place)).length === 43, { withinMs: 30_000 });
      expect(await idsOf(place, one)).toEqual(eventsOf(one, 40).map(({ id }) => id));
      expect((await rowsOf(place)).every(({ outcome }) => outcome === "applied")).toBe(true);
      await eventually(async () => {
        expect(await jobsLeft(place)).toEqual({ active: 0, toFetch: 0, failed: 0 });
      });
      expect((await worker.get("/livez")).status).toBe(200);
      const ready = await worker.get("/readyz");
      expect({ status: ready.status, ...(JSON.parse(ready.text) as object) }).toEqual({
        status: 200,
        ok: true,
        redis: "answers",
        postgres: "answers",
        consumption: "moving",
      });
      const { text } = await worker.get("/metrics");
      expect(text).toContain('junban_events_total{family="payment",outcome="applied"} 41');
      expect(text).toMatch(/junban_apply_latency_seconds_count 43/);
      for (const name of [
        "junban_lane_depth_deepest",
        "junban_requests_standing",
        'junban_leases_lost_total{why="taken"}',
        "junban_steps_back_total",
        "junban_commit_lanes_count",
        "junban_deferrals_held",
        "junban_dead_letters",
        "junban_outbox_lag_seconds",
        "junban_pg_pool_in_use",
        "junban_event_loop_lag_seconds",
      ]) {
        expect(text).toContain(name);
      }
      expect(text).not.toContain(one);
      worker.tree.signal("SIGTERM");
      expect(await worker.exited).toEqual({ code: 0, signal: null });
    },
    LIMIT_MS,
  );

  test(
    "an unusable job fails for good and holds up nobody",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      const { Queue } = await import("bullmq");
      const connection = freshRedis().connect();
      const queue = new Queue("{payment}", { connection, prefix: place.prefix });
      await queue.add("payment.captured", { hello: "world" });
      await queue.add("payment.captured", { hello: "w".repeat(1_100_000) });
      const noJson = await queue.add("payment.captured", {});
      await connection.hset(`${place.prefix}:{payment}:${noJson.id ?? ""}`, "data", "hello world");
      await publish(place, eventsOf(lcid, 3));
      const worker = await startWorker(place);
      await eventually(async () => (await rowsOf(place)).length === 3, { withinMs: 30_000 });
      await eventually(async () => {
        expect(await jobsLeft(place)).toEqual({ active: 0, toFetch: 0, failed: 3 });
      });
      const reasons = await Promise.all(
        ["1", "2", "3"].map((id) => connection.hget(`${place.prefix}:{payment}:${id}`, "failedReason")),
      );
      expect(reasons).toEqual([
        'specversion: the string "1.0"',
        "its data is larger than 1048576 characters",
        "its data is not JSON",
      ]);
      expect((await worker.get("/metrics")).text).toContain("junban_unusable_jobs_total 3");
      await queue.close();
      worker.tree.signal("SIGTERM");
      expect((await worker.exited).code).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    "jobs that wait for a lane held elsewhere step back when the process is asked to stop, and it exits 0 at once",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      const redis = freshRedis().connect();
      const lanes = createLanes({ redis, prefix: place.prefix });
      onTestFinished(() => lanes.close());
      expect((await lanes.enter(lcid)).kind).toBe("turn");
      await publish(place, eventsOf(lcid, 5));
      // So patient that only being asked to stop can move them: silence moves them after half a lease.
      const worker = await startWorker(place, { JUNBAN_WAIT_MS: "60000", JUNBAN_LEASE_MS: "120000" });
      await eventually(async () => (await jobsLeft(place)).active === 5, { withinMs: 30_000 });
      await eventually(async () => (await lanes.inspect(lcid)).seats > 0);
      const askedAtMs = performance.now();
      worker.tree.signal("SIGTERM");
      expect(await worker.exited).toEqual({ code: 0, signal: null });
      expect(performance.now() - askedAtMs).toBeLessThan(15_000);
      expect(await jobsLeft(place)).toEqual({ active: 0, toFetch: 5, failed: 0 });
      expect((await lanes.inspect(lcid)).seats).toBe(0);
      expect(await rowsOf(place)).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    "a transaction that is open when the process is asked to stop is finished, and its lane is left free",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      await publish(place, eventsOf(lcid, 1));
      const worker = await startWorker(place, {
        JUNBAN_LOCK_TIMEOUT_MS: "9000",
        JUNBAN_STATEMENT_TIMEOUT_MS: "9500",
      });
      await eventually(async () => (await rowsOf(place)).length === 1, { withinMs: 30_000 });
      const letGo = await holdOrder(place, lcid);
      await publish(place, eventsOf(lcid, 3).slice(1));
      await eventually(async () => (await waitingForLocks(place)) > 0);
      worker.tree.signal("SIGTERM");
      await worker.tree.waitForLine("shutting down");
      await letGo();
      expect(await worker.exited).toEqual({ code: 0, signal: null });
      expect((await idsOf(place, lcid)).length).toBeGreaterThanOrEqual(2);
      const lanes = createLanes({
        redis: freshRedis().connect(),
        prefix: place.prefix,
      });
      onTestFinished(() => lanes.close());
      expect((await lanes.inspect(lcid)).holder).toBeNull();
    },
    LIMIT_MS,
  );

  test(
    "asked to stop while jobs whose events are committed have not been told yet, it ends those jobs, loses nothing and exits 0",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      const events = eventsOf(lcid, 201);
      // A lease beyond the test, and so patient that no job gives its slot back: all of them sit when the batch is committed.
      const env = {
        JUNBAN_WAIT_MS: "60000",
        JUNBAN_LEASE_MS: "120000",
        JUNBAN_LOCK_TIMEOUT_MS: "60000",
        JUNBAN_STATEMENT_TIMEOUT_MS: "70000",
        FLEET_STOP_AT: "200",
      };
      const worker = await startWorker(place, env, "seams");
      await publish(place, events.slice(0, 1));
      await eventually(async () => (await rowsOf(place)).length === 1, { withinMs: 30_000 });
      const letGo = await holdOrder(place, lcid);
      await publish(place, events.slice(1));
      await eventually(async () => (await waitingForLocks(place)) > 0, { withinMs: 30_000 });
      await eventually(async () => (await worker.get("/metrics")).text.includes("junban_jobs_active 128"));
      await letGo();
      expect(await worker.exited).toEqual({ code: 0, signal: null });
      expect((await rowsOf(place)).length).toBe(201);
      // 128 slots: those jobs have ended, and none of them has stepped back.
      expect(await jobsLeft(place)).toEqual({ active: 0, toFetch: 72, failed: 0 });

      await startWorker(place);
      await eventually(async () => {
        expect(await jobsLeft(place)).toEqual({ active: 0, toFetch: 0, failed: 0 });
      });
      await expectPublishOrder(place, [lcid], 201);
    },
    LIMIT_MS,
  );

  test(
    "asked a second time, the process exits at once and not with 0",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      await publish(place, eventsOf(lcid, 1));
      const worker = await startWorker(place, {
        JUNBAN_LOCK_TIMEOUT_MS: "9000",
        JUNBAN_STATEMENT_TIMEOUT_MS: "9500",
      });
      await eventually(async () => (await rowsOf(place)).length === 1, { withinMs: 30_000 });
      const letGo = await holdOrder(place, lcid);
      await publish(place, eventsOf(lcid, 2).slice(1));
      await eventually(async () => (await waitingForLocks(place)) > 0);
      worker.tree.signal("SIGTERM");
      await worker.tree.waitForLine("shutting down");
      worker.tree.signal("SIGINT");
      expect((await worker.exited).code).toBe(1);
      expect(worker.tree.stdout()).not.toContain('"shut down"');
      await letGo();
    },
    LIMIT_MS,
  );

  test(
    "two processes started alike share the work, and nothing is decided twice",
    async () => {
      const place = await freshPlace();
      const lcids = Array.from({ length: 20 }, () => freshLcid());
      const workers = await Promise.all([startWorker(place, SHORT_LEASE), startWorker(place, SHORT_LEASE)]);
      await publish(
        place,
        lcids.flatMap((lcid) => eventsOf(lcid, 25)),
      );
      await eventually(async () => (await rowsOf(place)).length === 500, { withinMs: 60_000 });
      await expectPublishOrder(place, lcids, 25);
      await eventually(async () => {
        expect(await jobsLeft(place)).toEqual({ active: 0, toFetch: 0, failed: 0 });
      });
      for (const { tree } of workers) tree.signal("SIGTERM");
      for (const { exited } of workers) expect((await exited).code).toBe(0);
    },
    LIMIT_MS,
  );
});

describe("a start that cannot succeed", () => {
  /** How a start ended; one that succeeds after all is not waited for. */
  async function endOf(tree: ProcessTree): Promise<ProcessExit | string> {
    const served = tree.waitForLine("the worker serves").catch(() => tree.exited);
    return Promise.race([tree.exited, served]);
  }

  test(
    "a bad value ends with 2 and names variable, value and what is allowed",
    async () => {
      const place = await freshPlace();
      const tree = await launchWorker({ ...environmentOf(place), JUNBAN_LEASE_MS: "ten" });
      expect(await tree.exited).toEqual({ code: 2, signal: null });
      expect(tree.stderr()).toMatch(/JUNBAN_LEASE_MS.*"ten".*1000…300000/);
    },
    LIMIT_MS,
  );

  test(
    "a service that does not answer ends with 3, after saying what it waits for",
    async () => {
      const place = await freshPlace();
      // Nothing listens on port 1.
      const tree = await launchWorker({ ...environmentOf(place), REDIS_URL: "redis://:secret@127.0.0.1:1" });
      await tree.waitForLine("waiting for Redis");
      expect(await tree.exited).toEqual({ code: 3, signal: null });
      expect(tree.stdout()).not.toContain("secret");
    },
    LIMIT_MS,
  );

  test(
    "being asked to stop while waiting for a service ends with 0",
    async () => {
      const place = await freshPlace();
      const tree = await launchWorker({
        ...environmentOf(place),
        DATABASE_URL: "postgres://nobody:secret@127.0.0.1:1/nothing",
      });
      await tree.waitForLine("waiting for Postgres");
      tree.signal("SIGTERM");
      expect(await tree.exited).toEqual({ code: 0, signal: null });
    },
    LIMIT_MS,
  );

  test(
    "a database without the schema ends with 1 and says what to run",
    async () => {
      const place = await freshPlace();
      const url = new URL(place.databaseUrl);
      url.pathname = "/postgres";
      const tree = await launchWorker({ ...environmentOf(place), DATABASE_URL: url.href });
      expect(await endOf(tree)).toEqual({ code: 1, signal: null });
      expect(tree.stdout()).toContain("junban migrate");
    },
    LIMIT_MS,
  );

  test(
    "a Redis that lets in whoever comes is told at the start, once",
    async () => {
      const place = await freshPlace();
      // An address for examples, which no machine has: the server may do without it, and listens on the loopback only.
      const settings = { bind: "127.0.0.1 -192.0.2.1", "protected-mode": "no" };
      const server = await startRedis({ appendOnly: false, settings });
      onTestFinished(() => server.stop());
      const redis = new Redis(server.url);
      await redis.config("SET", "requirepass", "");
      redis.disconnect();
      const worker = await startWorker({ ...place, redisUrl: `redis://127.0.0.1:${server.port}` });
      const told = worker.tree
        .stdout()
        .split("\n")
        .filter((line) => line.includes("Redis lets in whoever reaches it"));
      expect(told.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { level: "warn", openAt: ["192.0.2.1"] },
      ]);
    },
    LIMIT_MS,
  );

  test(
    "a Redis that may evict keys is refused with 2, loudly",
    async () => {
      const place = await freshPlace();
      const redis = await startRedis({ appendOnly: false, settings: { "maxmemory-policy": "allkeys-lru" } });
      onTestFinished(() => redis.stop());
      const tree = await launchWorker({ ...environmentOf(place), REDIS_URL: redis.url });
      expect(await endOf(tree)).toEqual({ code: 2, signal: null });
      expect(tree.stdout()).toContain("set it to noeviction");
    },
    LIMIT_MS,
  );
});
