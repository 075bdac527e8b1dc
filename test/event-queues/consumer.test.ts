import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import { addJobs, createGate, openPlainQueues, openReader, startConsumer } from "./setting.ts";

describe("a consumer", () => {
  test("processes every job of its families and leaves nothing of a finished one behind", async () => {
    const corner = freshRedis();
    const queues = openPlainQueues(corner);
    const families = ["payment", "inventory", "line-item", "cancel"] as const;
    for (const family of families) await addJobs(queues, family, 50);

    const consumer = startConsumer(corner, { families });

    await eventually(() => consumer.jobs.length === 200);
    const redis = corner.connect();
    await eventually(async () => {
      const keys = await redis.keys(`${corner.prefix}:*`);
      const housekeeping = /:(id|meta|events|pc|marker|stalled|stalled-check)$/;
      expect(keys.filter((key) => !housekeeping.test(key))).toEqual([]);
    });
    expect(consumer.errors).toEqual([]);
  });

  test("hands over id, family, name and data of a job, whoever added it", async () => {
    const corner = freshRedis();
    const [id] = await addJobs(openPlainQueues(corner), "payment", 1);

    const consumer = startConsumer(corner);

    await eventually(() => consumer.jobs.length === 1);
    expect(consumer.jobs).toEqual([
      { id, family: "payment", name: "payment.test", data: { index: 0 }, stepsBack: 0 },
    ]);
  });

  test("leaves the families it does not serve alone", async () => {
    const corner = freshRedis();
    const queues = openPlainQueues(corner);
    await addJobs(queues, "cancel", 1);
    await addJobs(queues, "payment", 1);

    const consumer = startConsumer(corner, { families: ["payment"] });

    await eventually(() => consumer.jobs.length === 1);
    expect((await openReader(corner).counts()).cancel.waiting).toBe(1);
  });

  test("counts how often a job stepped back", async () => {
    const corner = freshRedis();
    await addJobs(openPlainQueues(corner), "payment", 1);

    const consumer = startConsumer(corner, {
      process: async (job) => (job.stepsBack < 3 ? { kind: "delayed", delayMs: 10 } : { kind: "completed" }),
    });

    await eventually(() => consumer.jobs.length === 4);
    expect(consumer.jobs.map((job) => job.stepsBack)).toEqual([0, 1, 2, 3]);
    await eventually(async () => {
      const { payment } = await openReader(corner).counts();
      expect(payment).toEqual({ waiting: 0, prioritized: 0, active: 0, delayed: 0, failed: 0 });
    });
  });

  test("goes on with other jobs at once when one steps back", async () => {
    const corner = freshRedis();
    await addJobs(openPlainQueues(corner), "payment", 20);

    const consumer = startConsumer(corner, {
      concurrency: 1,
      process: async (job) =>
        job.stepsBack === 0 ? { kind: "delayed", delayMs: 60_000 } : { kind: "completed" },
    });

    await eventually(() => consumer.jobs.length === 20);
    await eventually(async () => (await openReader(corner).counts()).payment.delayed === 20);
  });

  test("puts a job back when its processor rejects, and says so once", async () => {
    const corner = freshRedis();
    await addJobs(openPlainQueues(corner), "payment", 5);

    const consumer = startConsumer(corner, {
      process: async (job) => {
        if (job.stepsBack === 0) throw new Error(`no luck with job ${job.id}`);
        return { kind: "completed" };
      },
    });

    await eventually(() => consumer.jobs.length === 10);
    expect(consumer.errors.map((error) => error.message)).toEqual([
      expect.stringMatching(/^no luck with job/),
    ]);
    expect((await openReader(corner).counts()).payment.failed).toBe(0);
  });

  test("does not run a job twice at once when its lock lapsed", async () => {
    const corner = freshRedis();
    const redis = corner.connect();
    const queues = openPlainQueues(corner);
    const [id] = await addJobs(queues, "payment", 1);
    const gate = createGate();
    const consumer = startConsumer(corner, {
      process: async () => {
        await gate.opened;
        return { kind: "completed" };
      },
    });
    await eventually(() => consumer.jobs.length === 1);
    const jobKey = `${corner.prefix}:{payment}:${id}`;

    await redis.del(`${jobKey}:lock`);
    // Started twice: BullMQ saw it stall, and this same process fetched it again.
    await eventually(async () => (await redis.hget(jobKey, "ats")) === "2");
    // Another job, fetched after that, is here: so what was fetched twice has arrived twice.
    await addJobs(queues, "payment", 1);
    await eventually(() => consumer.jobs.length === 2);

    expect(consumer.jobs.filter((job) => job.id === id)).toHaveLength(1);
    expect(consumer.activeCount()).toBe(2);
    gate.open();
    await eventually(async () => (await redis.exists(jobKey)) === 0);
    expect(consumer.jobs).toHaveLength(2);
  });
});

describe("a job that can never be used", () => {
  test("fails for good, with its reason, and only so many are kept", async () => {
    const corner = freshRedis();
    await addJobs(openPlainQueues(corner), "payment", 12);

    const consumer = startConsumer(corner, {
      keepFailed: 5,
      process: async () => ({ kind: "unusable", reason: "id: must be text" }),
    });

    await eventually(() => consumer.jobs.length === 12);
    const reader = openReader(corner);
    await eventually(async () => (await reader.counts()).payment.active === 0);
    const dead = await reader.deadJobs(100);
    expect(dead).toHaveLength(5);
    expect(dead[0]).toMatchObject({
      family: "payment",
      name: "payment.test",
      reason: "id: must be text",
      text: expect.stringMatching(/^\{"index":\d+\}$/) as string,
    });
    expect(await corner.connect().keys(`${corner.prefix}:{payment}:[0-9]*`)).toHaveLength(5);
    expect(consumer.errors).toEqual([]);
  });

  test("fails for good when its data is not even JSON, and the neighbours go on", async () => {
    const corner = freshRedis();
    const queues = openPlainQueues(corner);
    const [first] = await addJobs(queues, "payment", 3);
    await corner.connect().hset(`${corner.prefix}:{payment}:${first}`, "data", '{"half":');

    const consumer = startConsumer(corner);

    await eventually(() => consumer.jobs.length === 2);
    const reader = openReader(corner);
    await eventually(async () => (await reader.counts()).payment.failed === 1);
    expect(await reader.deadJobs(10)).toMatchObject([
      { id: first, reason: "its data is not JSON", text: '{"half":' },
    ]);
  });

  test("is given the bounded reason only", async () => {
    const corner = freshRedis();
    await addJobs(openPlainQueues(corner), "payment", 1);

    startConsumer(corner, { process: async () => ({ kind: "unusable", reason: "x".repeat(5_000) }) });

    const reader = openReader(corner);
    const [dead] = await eventually(async () => {
      const found = await reader.deadJobs(1);
      return found.length === 1 && found;
    });
    expect(dead?.reason).toHaveLength(200);
  });
});

describe("pausing", () => {
  test("does not wait for running jobs, and resuming fetches beside them", async () => {
    const corner = freshRedis();
    const queues = openPlainQueues(corner);
    const gate = createGate();
    await addJobs(queues, "payment", 1);
    const consumer = startConsumer(corner, {
      process: async (job) => {
        if (job.id === "1") await gate.opened;
        return { kind: "completed" };
      },
    });
    await eventually(() => consumer.activeCount() === 1);

    await consumer.pause();
    expect(consumer.state).toBe("paused");
    await addJobs(queues, "payment", 20);
    // A fetch that was under way may still bring one job.
    const reader = openReader(corner);
    await eventually(async () => (await reader.counts()).payment.waiting >= 19);
    expect(consumer.jobs.length).toBeLessThanOrEqual(2);

    consumer.resume();
    expect(consumer.state).toBe("running");
    await eventually(() => consumer.jobs.length === 21);
    expect(consumer.activeCount()).toBe(1);
    gate.open();
    await eventually(() => consumer.activeCount() === 0);
  });

  test("and resuming again and again never leaves the consumer asleep", async () => {
    const corner = freshRedis();
    const queues = openPlainQueues(corner);
    const consumer = startConsumer(corner);

    for (let round = 1; round <= 30; round += 1) {
      await consumer.pause();
      consumer.resume();
      await addJobs(queues, "payment", 1);
      await eventually(() => consumer.jobs.length === round);
    }
  });
});

describe("signs of life", () => {
  test("come from an idle consumer too", async () => {
    const corner = freshRedis();
    const consumer = startConsumer(corner);

    await eventually(() => consumer.lastActivityMs() > 1_500, { withinMs: 20_000 });
    await eventually(() => consumer.lastActivityMs() < 1_000, { withinMs: 20_000 });
  });
});

describe("closing", () => {
  test("tells running jobs to stop, and waits for their ends to be written", async () => {
    const corner = freshRedis();
    await addJobs(openPlainQueues(corner), "payment", 40);
    const consumer = startConsumer(corner, {
      process: async (_job, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve({ kind: "delayed", delayMs: 60_000 }));
        }),
    });
    await eventually(() => consumer.activeCount() === 8);

    await consumer.close({ deadlineMs: 20_000 });

    expect(consumer.state).toBe("closed");
    expect(consumer.activeCount()).toBe(0);
    expect((await openReader(corner).counts()).payment).toMatchObject({ active: 0, delayed: 8, waiting: 32 });
    expect(consumer.errors).toEqual([]);
  });

  test("gives up on a processor that does not end", async () => {
    const corner = freshRedis();
    await addJobs(openPlainQueues(corner), "payment", 1);
    const gate = createGate();
    const consumer = startConsumer(corner, {
      process: async () => {
        await gate.opened;
        return { kind: "completed" };
      },
    });
    onTestFinished(() => gate.open());
    await eventually(() => consumer.activeCount() === 1);

    const closing = consumer.close({ deadlineMs: 200 });

    await eventually(() => consumer.state === "closed");
    await closing;
  });

  test("may be asked for twice", async () => {
    const consumer = startConsumer(freshRedis());

    await Promise.all([consumer.close({ deadlineMs: 5_000 }), consumer.close({ deadlineMs: 5_000 })]);

    expect(consumer.state).toBe("closed");
  });

  test("leaves a client that was lent to it open", async () => {
    const corner = freshRedis();
    const client = corner.connect();
    const consumer = startConsumer({ ...corner, url: client as never });
    await addJobs(openPlainQueues(corner), "payment", 1);
    await eventually(() => consumer.jobs.length === 1);

    await consumer.close({ deadlineMs: 5_000 });

    expect(await client.ping()).toBe("PONG");
  });
});
