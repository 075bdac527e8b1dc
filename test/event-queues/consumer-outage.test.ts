import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startProxy } from "@junban/sandbox";
import type { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import {
  addJobs,
  connectTo,
  createGate,
  openPlainQueues,
  openReader,
  startConsumer,
  startOwnRedis,
} from "./setting.ts";
import type { Corner } from "./setting.ts";

describe("a consumer whose process is killed", () => {
  test("loses no job to it, and no job counts as failed however often that happens", async () => {
    const corner = freshRedis();
    const ids = await addJobs(openPlainQueues(corner), "payment", 4);
    const redis = corner.connect();

    for (let kill = 1; kill <= 3; kill += 1) {
      const holder = startHolder(corner, 500);
      await eventually(() => holder.lines.filter((line) => line.startsWith("holding")).length === 4, {
        withinMs: 30_000,
      });
      holder.child.kill("SIGKILL");
      await once(holder.child, "exit");
    }
    const consumer = startConsumer(corner);

    await eventually(() => consumer.jobs.length === 4, { withinMs: 20_000 });
    expect(consumer.jobs.map((job) => job.id).toSorted()).toEqual(ids.toSorted());
    // Three stalls each are no steps back.
    expect(consumer.jobs.map((job) => job.stepsBack)).toEqual([0, 0, 0, 0]);
    await eventually(async () => (await redis.llen(`${corner.prefix}:{payment}:active`)) === 0);
    expect((await openReader(corner).counts()).payment.failed).toBe(0);
  }, 90_000);

  function startHolder(corner: Corner, lockMs: number): { child: ChildProcess; lines: string[] } {
    const path = fileURLToPath(new URL("hold-jobs.process.ts", import.meta.url));
    const lines: string[] = [];
    const child = spawn(
      process.execPath,
      ["--conditions=@junban/source", "--import", "tsx", path, corner.url, corner.prefix, String(lockMs)],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    child.stdout.setEncoding("utf8").on("data", (text: string) => lines.push(...text.trim().split("\n")));
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    return { child, lines };
  }
});

describe("when Redis restarts", () => {
  test("an idle consumer goes on by itself, and reports the outage once", async () => {
    const server = await startOwnRedis();
    const consumer = startConsumer(server);
    const queues = openPlainQueues(server);
    await addJobs(queues, "payment", 1);
    await eventually(() => consumer.jobs.length === 1);

    await server.restart({ awayMs: 3_000 });
    await addJobs(queues, "payment", 10);

    await eventually(() => consumer.jobs.length === 11, { withinMs: 20_000 });
    await eventually(() => consumer.lastActivityMs() < 1_000);
    expect(consumer.errors.length).toBeLessThanOrEqual(1);
  }, 60_000);

  test("a busy consumer ends what it holds and takes the rest", async () => {
    const server = await startOwnRedis();
    const queues = openPlainQueues(server);
    await addJobs(queues, "payment", 500);
    const gate = createGate();
    const consumer = startConsumer(server, {
      lockDurationMs: 2_000,
      process: async () => {
        await gate.opened;
        return { kind: "completed" };
      },
    });
    await eventually(() => consumer.activeCount() === 8);

    const restarted = server.restart({ awayMs: 1_000 });
    await eventually(() => consumer.errors.length > 0);
    gate.open();
    await restarted;

    await eventually(() => new Set(consumer.jobs.map((job) => job.id)).size === 500, { withinMs: 30_000 });
    const reader = openReader(server);
    await eventually(
      async () => {
        expect((await reader.counts()).payment).toMatchObject({
          waiting: 0,
          active: 0,
          delayed: 0,
          failed: 0,
        });
      },
      { withinMs: 20_000 },
    );
  }, 90_000);

  test("a consumer that began before Redis was there starts to consume", async () => {
    const server = await startOwnRedis();
    await addJobs(openPlainQueues(server), "payment", 3);
    await server.restart();
    await server.kill();

    const consumer = startConsumer(server);
    await eventually(() => consumer.errors.length === 1);
    await server.restart();

    await eventually(() => consumer.jobs.length === 3, { withinMs: 20_000 });
  }, 60_000);

  test("a frozen Redis only delays", async () => {
    const server = await startOwnRedis();
    const queues = openPlainQueues(server);
    const consumer = startConsumer(server);
    await addJobs(queues, "payment", 1);
    await eventually(() => consumer.jobs.length === 1);

    server.freeze();
    await eventually(() => consumer.lastActivityMs() > 7_000, { withinMs: 30_000 });
    server.resume();
    await addJobs(queues, "payment", 10);

    await eventually(() => consumer.jobs.length === 11, { withinMs: 20_000 });
  }, 60_000);
});

describe("a connection that is cut while ends are on their way", () => {
  /** Cuts the line at the ends of eight jobs: before Redis has them, or when Redis has done them and answers. */
  async function cutAtEnds(server: Corner, at: "toServer" | "toClient") {
    let armed = false;
    let endsOn = 0;
    let cuts = 0;
    const proxy = await startProxy({
      url: server.url,
      onData: (direction, chunk, connection) => {
        if (!armed) return "pass";
        if (direction === "toServer" && chunk.includes(":completed")) endsOn = connection;
        if (connection !== endsOn || direction !== at) return "pass";
        armed = false;
        cuts += 1;
        proxy.cut();
        return "drop";
      },
    });
    onTestFinished(async () => proxy.close());
    const corner = { url: proxy.url, prefix: server.prefix };
    return { proxy, corner, arm: () => (armed = true), cuts: () => cuts };
  }

  async function endJobsOverCut(at: "toServer" | "toClient", lockDurationMs: number) {
    const server = await startOwnRedis();
    const ids = await addJobs(openPlainQueues(server), "payment", 40);
    const { proxy, corner, arm, cuts } = await cutAtEnds(server, at);
    const gate = createGate();
    const consumer = startConsumer(corner, {
      lockDurationMs,
      process: async () => {
        await gate.opened;
        return { kind: "completed" };
      },
    });
    await eventually(() => consumer.activeCount() === 8);
    arm();
    gate.open();
    await eventually(() => cuts() === 1 && consumer.errors.length > 0);
    // Nothing ends while the line is down.
    expect(consumer.jobs).toHaveLength(8);
    proxy.heal();

    const reader = openReader(server);
    const none = { waiting: 0, prioritized: 0, active: 0, delayed: 0, failed: 0 };
    await eventually(async () => expect((await reader.counts()).payment).toMatchObject(none), {
      withinMs: 30_000,
    });
    expect(cuts()).toBe(1);
    return { ids: ids.toSorted(), begun: consumer.jobs.map(({ id }) => id).toSorted() };
  }

  test("before Redis has them: each is sent again once the line is back, and no job is begun twice", async () => {
    // A lock beyond the test: a job whose end were not sent again would stay active.
    const { ids, begun } = await endJobsOverCut("toServer", 600_000);
    expect(begun).toEqual(ids);
  }, 60_000);

  test("when Redis has done them and the answer is lost: every job ends, those too that came with the answer", async () => {
    const { ids, begun } = await endJobsOverCut("toClient", 2_000);
    expect([...new Set(begun)]).toEqual(ids);
  }, 60_000);
});

describe("closing while Redis is away", () => {
  test("ends although BullMQ's own close would not", async () => {
    const server = await startOwnRedis();
    const consumer = startConsumer(server);
    await addJobs(openPlainQueues(server), "payment", 1);
    await eventually(() => consumer.jobs.length === 1);
    await server.kill();
    await eventually(() => consumer.errors.length > 0);

    const startedAtMs = performance.now();
    await consumer.close({ deadlineMs: 25_000 });

    expect(performance.now() - startedAtMs).toBeLessThan(15_000);
    expect(consumer.state).toBe("closed");
  }, 60_000);

  test("ends when Redis was never there", async () => {
    const server = await startOwnRedis();
    await server.kill();
    const consumer = startConsumer(server);
    await eventually(() => consumer.errors.length > 0);

    await consumer.close({ deadlineMs: 25_000 });

    expect(consumer.state).toBe("closed");
  }, 60_000);

  test("waits for running processors until the deadline", async () => {
    const server = await startOwnRedis();
    await addJobs(openPlainQueues(server), "payment", 1);
    const gate = createGate();
    let isDone = false;
    const consumer = startConsumer(server, {
      process: async () => {
        await gate.opened;
        isDone = true;
        return { kind: "completed" };
      },
    });
    await eventually(() => consumer.activeCount() === 1);
    await server.kill();

    const closing = consumer.close({ deadlineMs: 25_000 });
    await eventually(() => consumer.state === "closing");
    gate.open();
    await closing;

    expect(isDone).toBe(true);
  }, 60_000);
});

describe("when Redis refuses writes", () => {
  test.each([
    [
      "for lack of memory",
      "REDIS_OUT_OF_MEMORY",
      (redis: Redis) => redis.config("SET", "maxmemory", "1"),
      (redis: Redis) => redis.config("SET", "maxmemory", "0"),
    ],
    [
      "as a replica",
      "REDIS_AWAY",
      (redis: Redis) => redis.replicaof("127.0.0.1", 1),
      (redis: Redis) => redis.replicaof("NO", "ONE"),
    ],
  ])(
    "%s, fetching does not spin, reports seldom, says why, and goes on afterwards",
    async (_why, code, refuse, allow) => {
      const server = await startOwnRedis();
      await addJobs(openPlainQueues(server), "payment", 20);
      const redis = connectTo(server);
      await refuse(redis);
      const before = await commandCount(redis);
      const startedAtMs = performance.now();

      // Until its first fetch has succeeded, BullMQ's loop has nothing to wait for.
      const consumer = startConsumer(server, { families: ["payment", "cancel"] });
      await eventually(() => consumer.errors.length > 0);
      await eventually(() => performance.now() - startedAtMs > 3_000);

      const asked = (await commandCount(redis)) - before;
      expect(asked).toBeLessThan((performance.now() - startedAtMs) / 5);
      expect(consumer.errors.length).toBeLessThanOrEqual(4);
      expect(consumer.refusal()).toBe(code);
      await allow(redis);
      await eventually(() => consumer.jobs.length === 20, { withinMs: 20_000 });
      await eventually(() => consumer.refusal() === null, { withinMs: 20_000 });
    },
    60_000,
  );
});

async function commandCount(redis: Redis): Promise<number> {
  const stats = await redis.info("stats");
  return Number(/total_commands_processed:(\d+)/.exec(stats)?.[1]);
}
