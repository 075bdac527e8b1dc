import { migrate } from "@junban/order-store";
import { startProxy, startSandbox } from "@junban/sandbox";
import type { Sandbox } from "@junban/sandbox";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import {
  eventsOf,
  expectPublishOrder,
  freshLcid,
  poolOf,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
} from "./worker-lab.ts";
import type { Place, WorkerProcess } from "./worker-lab.ts";

const LIMIT_MS = 180_000;
/** An idle consumer asks every few seconds, and a look at readiness is good for half a second. */
const NOTICED = { withinMs: 45_000, everyMs: 100 };

/** Whole servers are changed here, so they are this file's own. */
describe("readyz while both services answer", () => {
  let sandbox: Sandbox;
  let redis: Redis;
  let places = 0;

  beforeAll(async () => {
    sandbox = await startSandbox();
    redis = new Redis(sandbox.redis.url, { maxRetriesPerRequest: null });
  }, 120_000);

  afterAll(async () => {
    redis.disconnect();
    await sandbox.stop();
  });

  async function ownPlace(): Promise<Place> {
    const databaseUrl = await sandbox.postgres.createDatabase();
    await migrate({ databaseUrl });
    places += 1;
    return { databaseUrl, redisUrl: sandbox.redis.url, prefix: `truth-${places}` };
  }

  async function expectReadiness(worker: WorkerProcess, expected: object): Promise<void> {
    await eventually(async () => {
      const { status, text } = await worker.get("/readyz");
      expect({ status, ...(JSON.parse(text) as object) }).toMatchObject(expected);
    }, NOTICED);
  }

  const READY = { status: 200, ok: true, redis: "answers", postgres: "answers", consumption: "moving" };

  const linesAbout = (worker: WorkerProcess, words: string): number =>
    worker.tree.stdout().split(words).length - 1;

  test(
    "tells that Redis is full and hands out no jobs; with room again, consumption resumes and nothing is lost or inverted",
    async () => {
      const place = await ownPlace();
      const lcids = Array.from({ length: 20 }, () => freshLcid());
      const worker = await startWorker(place, SHORT_LEASE);
      onTestFinished(async () => void (await redis.config("SET", "maxmemory", "0")));
      await expectReadiness(worker, READY);
      // Frozen, so that there is a backlog when Redis is full, and none of it fetched.
      worker.tree.signal("SIGSTOP");
      await publish(
        place,
        lcids.flatMap((lcid) => eventsOf(lcid, 20)),
      );
      await redis.config("SET", "maxmemory", "1");
      worker.tree.signal("SIGCONT");
      await expectReadiness(worker, {
        status: 503,
        redis: "answers",
        consumption: "refused",
        why: "REDIS_OUT_OF_MEMORY",
      });
      expect((await worker.get("/metrics")).text).toContain("junban_redis_refuses 1\n");
      await expect(publish(place, eventsOf(freshLcid(), 1))).rejects.toMatchObject({
        code: "REDIS_OUT_OF_MEMORY",
      });

      await redis.config("SET", "maxmemory", "0");
      await expectReadiness(worker, READY);
      await publish(
        place,
        lcids.flatMap((lcid) => eventsOf(lcid, 25).slice(20)),
      );
      await eventually(async () => (await rowsOf(place)).length === 500, { withinMs: 60_000 });
      await expectPublishOrder(place, lcids, 25);
      const left = async (): Promise<number> =>
        (await redis.keys(`${place.prefix}:*`)).filter((key) => /:\{[\w-]+\}:\d+$/.test(key)).length;
      await eventually(async () => (await left()) === 0, { withinMs: 30_000 });
      worker.tree.signal("SIGTERM");
      expect((await worker.exited).code).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    "tells that Redis may evict keys since somebody changed its policy, once and loudly, and that it is put back",
    async () => {
      const place = await ownPlace();
      const lcid = freshLcid();
      const worker = await startWorker(place, SHORT_LEASE);
      onTestFinished(async () => void (await redis.config("SET", "maxmemory-policy", "noeviction")));
      await expectReadiness(worker, READY);
      await redis.config("SET", "maxmemory-policy", "allkeys-lru");
      await expectReadiness(worker, { status: 503, redis: "may-evict", consumption: "moving" });
      expect((await worker.get("/metrics")).text).toContain("junban_redis_may_evict 1\n");
      await redis.config("SET", "maxmemory-policy", "volatile-ttl");
      await eventually(() => linesAbout(worker, "may drop locks, lines and jobs") === 2, NOTICED);
      expect(worker.tree.stdout()).toMatch(/"level":"error".*maxmemory-policy volatile-ttl/);
      // It works on all the same: to stop would save no key.
      await publish(place, eventsOf(lcid, 2));
      await eventually(async () => (await rowsOf(place)).length === 2, { withinMs: 30_000 });
      await redis.config("SET", "maxmemory-policy", "noeviction");
      await expectReadiness(worker, READY);
      expect(linesAbout(worker, "may drop locks, lines and jobs")).toBe(2);
    },
    LIMIT_MS,
  );

  test(
    "tells that an operator paused a queue; its events are still decided, and its jobs end once it is resumed",
    async () => {
      const place = await ownPlace();
      const lcid = freshLcid();
      const worker = await startWorker(place, SHORT_LEASE);
      const queue = new Queue("{payment}", { connection: redis, prefix: place.prefix });
      onTestFinished(() => queue.close());
      await expectReadiness(worker, READY);
      await queue.pause();
      await expectReadiness(worker, {
        status: 503,
        consumption: "paused",
        why: "QUEUES_PAUSED",
        pausedQueues: ["payment"],
      });
      // Its placement is of another family; the payments behind it stand in the same line.
      await publish(place, eventsOf(lcid, 4));
      await eventually(async () => (await rowsOf(place)).length === 4, { withinMs: 30_000 });
      expect(await queue.getJobCountByTypes("wait", "prioritized")).toBe(3);
      await queue.resume();
      await expectReadiness(worker, READY);
      await eventually(async () => (await queue.getJobCountByTypes("wait", "active")) === 0, {
        withinMs: 30_000,
      });
      await expectPublishOrder(place, [lcid], 4);
    },
    LIMIT_MS,
  );

  test(
    "tells that the connections on which jobs are awaited are dead while the others live; with new ones, consumption resumes",
    async () => {
      const own = await ownPlace();
      const blocking = new Set<number>();
      let isDead = false;
      const proxy = await startProxy({
        url: own.redisUrl,
        onData: (direction, chunk, connection) => {
          // By its name a connection says that it is for waiting only.
          if (direction === "toServer" && chunk.includes(`${own.prefix}:`) && chunk.includes(":w:")) {
            blocking.add(connection);
          }
          return isDead && blocking.has(connection) ? "drop" : "pass";
        },
      });
      onTestFinished(() => proxy.close());
      const place = { ...own, redisUrl: proxy.url };
      const lcid = freshLcid();
      const worker = await startWorker(place, SHORT_LEASE);
      await expectReadiness(worker, READY);
      await eventually(() => blocking.size === 4);
      isDead = true;
      await expectReadiness(worker, {
        status: 503,
        redis: "answers",
        consumption: "stuck",
        why: "NOTHING_FETCHED",
      });
      isDead = false;
      await expectReadiness(worker, READY);
      await publish(own, eventsOf(lcid, 3));
      await eventually(async () => (await rowsOf(place)).length === 3, { withinMs: 30_000 });
      worker.tree.signal("SIGTERM");
      expect((await worker.exited).code).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    "tells that Postgres takes no writes and nothing that is fetched gets its row; when it does again, all goes on",
    async () => {
      const place = await ownPlace();
      const lcids = Array.from({ length: 5 }, () => freshLcid());
      const worker = await startWorker(place, SHORT_LEASE);
      const setReadOnly = async (value: "on" | "off"): Promise<void> => {
        await poolOf(place).query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
        await poolOf(place).query("SELECT pg_reload_conf()");
      };
      onTestFinished(() => setReadOnly("off"));
      await expectReadiness(worker, READY);
      await setReadOnly("on");
      await publish(
        place,
        lcids.flatMap((lcid) => eventsOf(lcid, 3)),
      );
      await expectReadiness(worker, {
        status: 503,
        postgres: "answers",
        consumption: "stuck",
        why: "NOTHING_SETTLED",
      });
      await setReadOnly("off");
      await eventually(async () => (await rowsOf(place)).length === 15, { withinMs: 30_000 });
      await expectPublishOrder(place, lcids, 3);
      await expectReadiness(worker, READY);
    },
    LIMIT_MS,
  );
});
