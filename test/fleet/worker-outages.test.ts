import { migrate } from "@junban/order-store";
import { startSandbox } from "@junban/sandbox";
import type { Sandbox } from "@junban/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import {
  environmentOf,
  eventsOf,
  expectPublishOrder,
  freshLcid,
  holdOrder,
  launchWorker,
  poolOf,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
  waitingForLocks,
} from "./worker-lab.ts";
import type { Place, WorkerProcess } from "./worker-lab.ts";

const LIMIT_MS = 180_000;

/** Whole servers go away here, so they are this file's own. */
describe("services that go away", () => {
  let sandbox: Sandbox;
  let databases = 0;

  beforeAll(async () => {
    sandbox = await startSandbox();
  }, 120_000);

  afterAll(async () => {
    await sandbox.stop();
  });

  async function ownPlace(): Promise<Place> {
    const databaseUrl = await sandbox.postgres.createDatabase();
    await migrate({ databaseUrl });
    databases += 1;
    return { databaseUrl, redisUrl: sandbox.redis.url, prefix: `outage-${databases}` };
  }

  async function readiness(worker: WorkerProcess): Promise<object> {
    const { status, text } = await worker.get("/readyz");
    return { status, ...(JSON.parse(text) as object) };
  }

  const linesAbout = (worker: WorkerProcess, words: string): number =>
    worker.tree.stdout().split(words).length - 1;

  test(
    "Postgres goes away and comes back: fetching pauses, readyz tells so, and everything resumes by itself",
    async () => {
      const place = await ownPlace();
      const lcids = Array.from({ length: 30 }, () => freshLcid());
      await publish(
        place,
        lcids.flatMap((lcid) => eventsOf(lcid, 1)),
      );
      const worker = await startWorker(place, SHORT_LEASE);
      await eventually(async () => (await rowsOf(place)).length === 30, { withinMs: 30_000 });
      await eventually(async () => expect(await readiness(worker)).toMatchObject({ status: 200 }));

      await sandbox.postgres.kill();
      await publish(
        place,
        lcids.flatMap((lcid) => eventsOf(lcid, 4).slice(1)),
      );
      await worker.tree.waitForLine("Postgres is away");
      await eventually(async () =>
        expect(await readiness(worker)).toMatchObject({
          status: 503,
          ok: false,
          postgres: "silent",
          consumption: "paused",
        }),
      );
      expect((await worker.get("/livez")).status).toBe(200);

      await sandbox.postgres.restart();
      await worker.tree.waitForLine("Postgres is back");
      await eventually(async () => (await rowsOf(place)).length === 120, { withinMs: 60_000 });
      await expectPublishOrder(place, lcids, 4);
      await eventually(async () => expect(await readiness(worker)).toMatchObject({ status: 200, ok: true }));
      expect(linesAbout(worker, "Postgres is away")).toBe(1);
      expect(linesAbout(worker, "Postgres is back")).toBe(1);
      worker.tree.signal("SIGTERM");
      expect((await worker.exited).code).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    "Postgres restarts while nothing happens: the same process applies the next event",
    async () => {
      const place = await ownPlace();
      const lcid = freshLcid();
      const worker = await startWorker(place, SHORT_LEASE);
      await publish(place, eventsOf(lcid, 1));
      await eventually(async () => (await rowsOf(place)).length === 1, { withinMs: 30_000 });
      await sandbox.postgres.restart();
      await publish(place, eventsOf(lcid, 2).slice(1));
      await eventually(async () => (await rowsOf(place)).length === 2, { withinMs: 60_000 });
      worker.tree.signal("SIGTERM");
      expect((await worker.exited).code).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    "Redis goes away and comes back: readyz tells so, consumption resumes by itself, nothing is lost or inverted",
    async () => {
      const place = await ownPlace();
      const lcids = Array.from({ length: 30 }, () => freshLcid());
      await publish(
        place,
        lcids.flatMap((lcid) => eventsOf(lcid, 3)),
      );
      const worker = await startWorker(place, SHORT_LEASE);
      await eventually(async () => (await rowsOf(place)).length > 0, { withinMs: 30_000 });

      const away = sandbox.redis.restart({ awayMs: 4_000 });
      await eventually(async () =>
        expect(await readiness(worker)).toMatchObject({ status: 503, redis: "silent" }),
      );
      await away;

      await publish(
        place,
        lcids.flatMap((lcid) => eventsOf(lcid, 6).slice(3)),
      );
      await eventually(async () => (await rowsOf(place)).length === 180, { withinMs: 60_000 });
      await expectPublishOrder(place, lcids, 6);
      await eventually(async () => expect(await readiness(worker)).toMatchObject({ status: 200 }), {
        withinMs: 30_000,
      });
      worker.tree.signal("SIGTERM");
      expect((await worker.exited).code).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    "asked to stop while Redis is away, a process still ends within its grace",
    async () => {
      const place = await ownPlace();
      const worker = await startWorker(place, { ...SHORT_LEASE, JUNBAN_SHUTDOWN_GRACE_MS: "8000" });
      await sandbox.redis.kill();
      try {
        const askedAtMs = performance.now();
        worker.tree.signal("SIGTERM");
        const { signal } = await worker.exited;
        expect(signal).toBeNull();
        expect(performance.now() - askedAtMs).toBeLessThan(12_000);
      } finally {
        await sandbox.redis.restart();
      }
    },
    LIMIT_MS,
  );

  test(
    "asked to stop in the middle of a transaction with both services silent, a process still ends within its grace",
    async () => {
      const place = await ownPlace();
      const lcid = freshLcid();
      const graceMs = 6_000;
      const worker = await startWorker(place, { ...SHORT_LEASE, JUNBAN_SHUTDOWN_GRACE_MS: String(graceMs) });
      await publish(place, eventsOf(lcid, 1));
      await eventually(async () => (await rowsOf(place)).length === 1, { withinMs: 30_000 });
      const letGo = await holdOrder(place, lcid);
      await publish(place, eventsOf(lcid, 3).slice(1));
      await eventually(async () => (await waitingForLocks(place)) > 0);
      // Frozen, not gone: connections stay, and nothing tells the process that no answer will come.
      sandbox.redis.freeze();
      sandbox.postgres.freeze();
      try {
        const askedAtMs = performance.now();
        worker.tree.signal("SIGTERM");
        const { signal } = await worker.exited;
        expect(signal).toBeNull();
        expect(performance.now() - askedAtMs).toBeLessThan(graceMs + 4_000);
      } finally {
        sandbox.redis.resume();
        sandbox.postgres.resume();
        await letGo();
      }
      // The next process finds what this one left, and decides it once.
      await startWorker(place, SHORT_LEASE);
      await eventually(async () => (await rowsOf(place)).length === 3, { withinMs: 30_000 });
      await expectPublishOrder(place, [lcid], 3);
    },
    LIMIT_MS,
  );

  test(
    "a process that starts before its services waits for them",
    async () => {
      const place = await ownPlace();
      const lcid = freshLcid();
      await publish(place, eventsOf(lcid, 1));
      await poolOf(place).query("SELECT 1");
      await sandbox.postgres.kill();
      const tree = await launchWorker({ ...environmentOf(place), ...SHORT_LEASE });
      await tree.waitForLine("waiting for Postgres");
      await sandbox.postgres.restart();
      await tree.waitForLine("the worker serves");
      await eventually(async () => (await rowsOf(place)).length === 1, { withinMs: 30_000 });
      tree.signal("SIGTERM");
      expect((await tree.exited).code).toBe(0);
    },
    LIMIT_MS,
  );
});
