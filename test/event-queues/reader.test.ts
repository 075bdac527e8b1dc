import { describe, expect, onTestFinished, test } from "vitest";
import { createQueueReader } from "../../packages/event-queues/src/index.ts";
import { eventually, freshRedis } from "../support/index.ts";
import { addJobs, createGate, openPlainQueues, openReader, startConsumer, startOwnRedis } from "./setting.ts";

describe("a queue reader", () => {
  test("counts what waits, runs, is delayed and failed, family by family", async () => {
    const corner = freshRedis();
    const queues = openPlainQueues(corner);
    await addJobs(queues, "payment", 6);
    await addJobs(queues, "cancel", 2);
    await queues.inventory.add("inventory.test", {}, { priority: 3 });
    const gate = createGate();
    const consumer = startConsumer(corner, {
      concurrency: 3,
      process: async (job) => {
        if (job.id === "1") return { kind: "delayed", delayMs: 60_000 };
        if (job.id === "2") return { kind: "unusable", reason: "a test" };
        await gate.opened;
        return { kind: "completed" };
      },
    });
    await eventually(() => consumer.activeCount() === 3);

    expect(await openReader(corner).counts()).toEqual({
      payment: { waiting: 1, prioritized: 0, active: 3, delayed: 1, failed: 1 },
      inventory: { waiting: 0, prioritized: 1, active: 0, delayed: 0, failed: 0 },
      "line-item": { waiting: 0, prioritized: 0, active: 0, delayed: 0, failed: 0 },
      cancel: { waiting: 2, prioritized: 0, active: 0, delayed: 0, failed: 0 },
    });
    gate.open();
  });

  test("tells which queues are paused, and counts what waits in them, however they were paused", async () => {
    const corner = freshRedis();
    const queues = openPlainQueues(corner);
    const reader = openReader(corner);
    await addJobs(queues, "payment", 3);
    await addJobs(queues, "cancel", 2);
    expect(await reader.paused()).toEqual([]);
    await queues.payment.pause();
    // As older versions of BullMQ do it.
    const redis = corner.connect();
    await redis.rename(`${corner.prefix}:{cancel}:wait`, `${corner.prefix}:{cancel}:paused`);
    await redis.hset(`${corner.prefix}:{cancel}:meta`, "paused", 1);

    expect(await reader.paused()).toEqual(["payment", "cancel"]);
    expect(await reader.counts()).toMatchObject({ payment: { waiting: 3 }, cancel: { waiting: 2 } });
    const consumer = startConsumer(corner, { families: ["payment", "cancel"] });
    for (const family of ["payment", "cancel"] as const) await queues[family].resume();
    await eventually(() => consumer.jobs.length === 5, { withinMs: 30_000 });
    expect(await reader.paused()).toEqual([]);
  });

  test("retries a failed job, which is then processed as if for the first time", async () => {
    const corner = freshRedis();
    const [id = ""] = await addJobs(openPlainQueues(corner), "payment", 1);
    let isUsable = false;
    const consumer = startConsumer(corner, {
      process: async () => (isUsable ? { kind: "completed" } : { kind: "unusable", reason: "a test" }),
    });
    const reader = openReader(corner);
    await eventually(async () => (await reader.counts()).payment.failed === 1);
    isUsable = true;

    expect(await reader.retryDead("payment", id)).toBe(true);

    await eventually(() => consumer.jobs.length === 2);
    expect(consumer.jobs[1]?.stepsBack).toBe(0);
    expect(await reader.retryDead("payment", id)).toBe(false);
    expect(await reader.retryDead("cancel", "no such job")).toBe(false);
    expect(await reader.deadJobs(10)).toEqual([]);
  });

  test("retries and drops a job whose data is not JSON", async () => {
    const corner = freshRedis();
    const [id = ""] = await addJobs(openPlainQueues(corner), "payment", 1);
    await corner.connect().hset(`${corner.prefix}:{payment}:${id}`, "data", "not JSON");
    startConsumer(corner);
    const reader = openReader(corner);
    const isDead = async (): Promise<boolean> => (await reader.deadJobs(10)).length === 1;
    await eventually(isDead);

    expect(await reader.retryDead("payment", id)).toBe(true);
    await eventually(isDead);
    expect(await reader.dropDead("payment", id)).toBe(true);

    expect(await reader.deadJobs(10)).toEqual([]);
    expect(await reader.dropDead("payment", id)).toBe(false);
    expect(await corner.connect().exists(`${corner.prefix}:{payment}:${id}`)).toBe(0);
  });

  test("drops nothing but failed jobs", async () => {
    const corner = freshRedis();
    const [id = ""] = await addJobs(openPlainQueues(corner), "payment", 1);
    const reader = openReader(corner);

    expect(await reader.dropDead("payment", id)).toBe(false);
    expect((await reader.counts()).payment.waiting).toBe(1);
  });

  test("lists the newest failed jobs of all families first, no more than asked for", async () => {
    const corner = freshRedis();
    const queues = openPlainQueues(corner);
    const consumer = startConsumer(corner, {
      families: ["payment", "cancel"],
      process: async () => ({ kind: "unusable", reason: "a test" }),
    });
    for (const [index, family] of (["payment", "cancel", "payment", "cancel"] as const).entries()) {
      await addJobs(queues, family, 1);
      await eventually(() => consumer.jobs.length === index + 1);
      await eventually(async () => (await openReader(corner).counts())[family].active === 0);
    }

    const dead = await openReader(corner).deadJobs(3);

    expect(dead.map((job) => job.family)).toEqual(["cancel", "payment", "cancel"]);
    expect(await openReader(corner).deadJobs(0)).toEqual([]);
  });

  test("counts each process that consumes once, and none that is gone", async () => {
    const corner = freshRedis();
    const reader = openReader(corner);
    expect(await reader.workers()).toBe(0);
    const first = startConsumer(corner, { families: ["payment", "cancel"] });
    startConsumer(corner, { families: ["payment"] });
    startConsumer(freshRedis());

    await eventually(async () => (await reader.workers()) === 2);
    await first.close({ deadlineMs: 5_000 });

    await eventually(async () => (await reader.workers()) === 1);
  });

  test("fails at once, typed, while Redis is away, and answers when it is back", async () => {
    const server = await startOwnRedis();
    const reader = createQueueReader({ redis: server.url });
    onTestFinished(async () => reader.close());
    await reader.counts();
    await server.kill();

    await expect(reader.counts()).rejects.toMatchObject({
      name: "QueueUnavailableError",
      code: "REDIS_AWAY",
    });
    await server.restart();

    await eventually(async () => reader.counts());
  });

  test("gives up on a Redis that does not answer", async () => {
    const server = await startOwnRedis();
    const reader = createQueueReader({ redis: server.url, timeoutMs: 300 });
    onTestFinished(async () => reader.close());
    await reader.counts();
    server.freeze();

    await expect(reader.counts()).rejects.toMatchObject({ code: "REDIS_TIMEOUT" });

    server.resume();
  });
});
