import { describe, expect, test } from "vitest";
import { CorkedWrites } from "../../packages/event-queues/src/corked-writes.ts";
import { EndsUnderWay } from "../../packages/event-queues/src/ends-under-way.ts";
import { JobEnds } from "../../packages/event-queues/src/job-ends.ts";
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
import type { Corner, Gate, TestConsumer } from "./setting.ts";

/** Jobs that end at one moment are completed in one call; for each of them it is as if it had ended by itself. */

const LOCK_MS = 1_000;

/** So many jobs, all of them being processed behind a gate. */
async function jobsAtTheGate(
  corner: Corner,
  count: number,
): Promise<{ consumer: TestConsumer; ids: readonly string[]; gate: Gate }> {
  const gate = createGate();
  const ids = await addJobs(openPlainQueues(corner), "payment", count);
  const consumer = startConsumer(corner, {
    concurrency: count + 1,
    lockDurationMs: LOCK_MS,
    process: async () => {
      await gate.opened;
      return { kind: "completed" };
    },
  });
  await eventually(() => consumer.jobs.length >= count);
  return { consumer, ids, gate };
}

async function goneFrom(corner: Corner, ids: readonly string[]): Promise<void> {
  const redis = connectTo(corner);
  await eventually(async () => {
    expect(await redis.exists(...ids.map((id) => `${corner.prefix}:{payment}:${id}`))).toBe(0);
  });
}

/** Calls of scripts that this server has had so far. */
async function scriptCalls(corner: Corner): Promise<number> {
  const stats = await connectTo(corner).info("commandstats");
  return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}

describe("jobs that end at one moment", () => {
  test("are completed in one call, and the same call fetches the next ones", async () => {
    const server = await startOwnRedis();
    const { consumer, gate } = await jobsAtTheGate(server, 50);
    await addJobs(openPlainQueues(server), "payment", 50);
    const before = await scriptCalls(server);

    gate.open();

    await eventually(() => consumer.jobs.length === 100);
    await goneFrom(
      server,
      consumer.jobs.map(({ id }) => id),
    );
    // Two calls end jobs, one or two look for more, and every second one looks for stalled jobs.
    expect((await scriptCalls(server)) - before).toBeLessThan(20);
    expect(new Set(consumer.jobs.map(({ id }) => id)).size).toBe(100);
    expect(consumer.errors).toEqual([]);
    expect(await openReader(server).counts()).toMatchObject({
      payment: { active: 0, waiting: 0, failed: 0 },
    });
  }, 60_000);

  test("are completed in several calls where they are hundreds, so that no call holds up Redis for long", async () => {
    const server = await startOwnRedis();
    const { consumer, ids, gate } = await jobsAtTheGate(server, 300);
    const before = await scriptCalls(server);

    gate.open();

    await goneFrom(server, ids);
    const calls = (await scriptCalls(server)) - before;
    expect(calls).toBeGreaterThanOrEqual(5);
    expect(calls).toBeLessThan(60);
    expect(consumer.errors).toEqual([]);
  }, 60_000);

  test("are completed fewer a call where they are of deep lanes, and those hold the slots", async () => {
    const corner = freshRedis();
    const gate = createGate();
    const jobs = Array.from({ length: 256 }, () => ({
      name: "payment.deep",
      data: {},
      opts: { priority: 1 },
    }));
    await openPlainQueues(corner).payment.addBulk(jobs);
    const consumer = startConsumer(corner, {
      concurrency: 256,
      process: async () => {
        await gate.opened;
        return { kind: "completed" };
      },
    });
    await eventually(() => consumer.activeCount() === 256);
    const watching = await connectTo(corner).monitor();
    const sizes: number[] = [];
    watching.on("monitor", (_time: string, args: readonly string[]) => {
      // Behind twenty-some keys and settings, three arguments for each job.
      const isOurs = args[0] === "evalsha" && args.includes(`${corner.prefix}:{payment}:`);
      if (isOurs && args.length > 60) sizes.push(args.length);
    });
    gate.open();
    await eventually(() => consumer.activeCount() === 0);
    await eventually(() => sizes.length > 0);
    watching.disconnect();
    expect(sizes[0]).toBeLessThan(3 * 32 + 60);
  });

  test("end although one of them has been taken by another worker, and that one is left to it", async () => {
    const corner = freshRedis();
    const { consumer, ids, gate } = await jobsAtTheGate(corner, 10);
    const [taken = "", ...others] = ids;
    await corner.connect().set(`${corner.prefix}:{payment}:${taken}:lock`, "another worker", "PX", 60_000);

    gate.open();

    await goneFrom(corner, others);
    await eventually(() => consumer.errors.length > 0);
    expect(consumer.errors[0]?.message).toContain(taken);
    expect(await corner.connect().exists(`${corner.prefix}:{payment}:${taken}`)).toBe(1);
    expect((await openReader(corner).counts()).payment).toMatchObject({ active: 1, failed: 0 });
  });

  test("end whatever their ids are, also where one is named like a key of the queue", async () => {
    const corner = freshRedis();
    await openPlainQueues(corner).payment.add("payment.test", {}, { jobId: "limiter" });
    const { consumer, ids, gate } = await jobsAtTheGate(corner, 9);
    await eventually(() => consumer.jobs.length === 10);

    gate.open();

    await goneFrom(corner, ["limiter", ...ids]);
    expect(consumer.errors).toEqual([]);
    expect(consumer.jobs).toHaveLength(10);
  });

  test("end although BullMQ stumbles over one of them, which comes again once it is mended", async () => {
    const corner = freshRedis();
    const redis = corner.connect();
    const { consumer, ids, gate } = await jobsAtTheGate(corner, 10);
    const [, , , odd = "", ...others] = ids;
    const lock = `${corner.prefix}:{payment}:${odd}:lock`;
    await redis.multi().del(lock).rpush(lock, "no lock at all").exec();

    gate.open();

    await goneFrom(corner, [...ids.slice(0, 3), ...others]);
    await eventually(() => consumer.errors.length > 0);
    expect(consumer.errors[0]?.message).toMatch(/^WRONGTYPE /);
    await redis.del(lock);
    await goneFrom(corner, [odd]);
    expect(consumer.jobs.map(({ id }) => id).toSorted()).toEqual([...ids, odd].toSorted());
  });
});

test("after SCRIPT FLUSH jobs still end, and the next ones are fetched", async () => {
  const server = await startOwnRedis();
  const queues = openPlainQueues(server);
  const consumer = startConsumer(server);
  await addJobs(queues, "payment", 3);
  await eventually(() => consumer.jobs.length === 3);
  const redis = connectTo(server);

  await redis.script("FLUSH");
  await addJobs(queues, "payment", 50);

  await eventually(() => consumer.jobs.length === 53);
  await eventually(async () => (await redis.exists(`${server.prefix}:{payment}:active`)) === 0);
  expect(new Set(consumer.jobs.map(({ id }) => id)).size).toBe(53);
}, 60_000);

describe("a client that does not tell its scripts", () => {
  test("is asked for nothing", async () => {
    const corner = freshRedis();
    const client = new Proxy(connectTo(corner), {
      get(target, name) {
        if (name === "scriptsSet") return undefined;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const ends = new JobEnds({
      client,
      writes: new CorkedWrites(client),
      underWay: new EndsUnderWay(),
      scriptName: "moveToFinished",
      argumentsFor: () => {
        throw new Error("nothing should be sent");
      },
    });

    expect(ends.complete([{} as never, {}, true, "token", true])).toBeNull();
  });
});
