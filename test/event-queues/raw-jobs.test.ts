import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createPublisher, QueueUnavailableError } from "../../packages/event-queues/src/index.ts";
import { eventually, freshRedis } from "../support/index.ts";
import { addJobs, connectTo, openPlainQueues, openReader, startConsumer, startOwnRedis } from "./setting.ts";

/** A queue of three jobs, of which somebody wrote further fields into the record of the one in the middle. */
async function threeJobs(fields: Readonly<Record<string, string>>) {
  const corner = freshRedis();
  const [first = "", middle = "", last = ""] = await addJobs(openPlainQueues(corner), "payment", 3);
  await corner.connect().hset(`${corner.prefix}:{payment}:${middle}`, fields);
  return { corner, ids: [first, middle, last] };
}

test("what a publisher throws holds nothing of the event that Redis refused", async () => {
  const server = await startOwnRedis({ appendOnly: false });
  const publisher = createPublisher({ redis: server.url });
  const canary = "canary-4711";
  const event = {
    specversion: "1.0",
    id: "1",
    source: "/x",
    type: "payment.authorized",
    lcid: "A",
    data: { note: canary },
  };
  const redis = connectTo(server);
  for (const command of ["evalsha", "eval"]) await redis.acl("SETUSER", "default", `-${command}`);
  const refused: unknown = await publisher.publish(event).catch((error: unknown) => error);
  await publisher.close();
  expect(refused).toBeInstanceOf(QueueUnavailableError);
  expect(inspect(refused, { depth: null })).toContain("NOPERM");
  expect(inspect(refused, { depth: null })).not.toContain(canary);
});

describe("a job is its name and its data", () => {
  test.each([
    ["options that are not JSON", { opts: "{half" }],
    ["options that are null", { opts: "null" }],
    [
      "options of no known meaning",
      { opts: '{"__proto__":{"attempts":3},"parent":5,"removeOnComplete":{"age":"x"}}' },
    ],
    ["a schedule that nobody made", { rjk: "some-scheduler" }],
    ["a schedule of an older BullMQ", { rjk: "name:id:0::* * * * *" }],
    ["a verdict of another worker", { defa: "job stalled more than allowable limit" }],
    ["progress that is not JSON", { progress: "{" }],
    ["a parent that is not JSON", { parent: "{", parentKey: "some:key" }],
    ["a parent without a name", { parent: "{}" }],
    [
      "a parent that is another than its key says",
      { parent: '{"id":"1","queueKey":"a:b"}', parentKey: "a:b:2" },
    ],
    ["a count of attempts that is no number", { atm: "lots" }],
    ["a count of stalls that is no number", { stc: "lots" }],
    ["traces and a result that are not JSON", { stacktrace: "{", returnvalue: "{" }],
  ])("with %s it is processed all the same, between its neighbours, and is gone", async (_what, fields) => {
    const { corner, ids } = await threeJobs(fields);
    const consumer = startConsumer(corner);
    await eventually(() => consumer.jobs.length === 3);
    expect(consumer.jobs.map(({ id, data }) => [id, data])).toEqual(ids.map((id, index) => [id, { index }]));
    const redis = corner.connect();
    await eventually(
      async () => (await redis.exists(...ids.map((id) => `${corner.prefix}:{payment}:${id}`))) === 0,
    );
    expect(consumer.errors).toEqual([]);
  });

  test("without the parent that was none, it can fail as well", async () => {
    const { corner, ids } = await threeJobs({ parent: "{}" });
    startConsumer(corner, { process: async () => ({ kind: "unusable", reason: "for a test" }) });
    const reader = openReader(corner);
    await eventually(async () => (await reader.counts()).payment.failed === 3);
    expect((await reader.deadJobs(10)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test("whether it is kept when it is unusable is not its own choice", async () => {
    const { corner, ids } = await threeJobs({ opts: '{"removeOnFail":true,"attempts":7}' });
    startConsumer(corner, { process: async () => ({ kind: "unusable", reason: "for a test" }) });
    const reader = openReader(corner);
    await eventually(async () => (await reader.counts()).payment.failed === 3);
    expect((await reader.deadJobs(10)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });
});

describe("a record over which BullMQ's own scripts stumble", () => {
  test("a count of starts that is no number: is mended, comes again when its lock has lapsed, and ends like any other", async () => {
    const { corner, ids } = await threeJobs({ ats: "lots" });
    const consumer = startConsumer(corner, { lockDurationMs: 1_000 });
    const reader = openReader(corner);
    await eventually(
      async () => {
        const { waiting, active, failed } = (await reader.counts()).payment;
        expect({ waiting, active, failed }).toEqual({ waiting: 0, active: 0, failed: 0 });
        expect(new Set(consumer.jobs.map(({ id }) => id))).toEqual(new Set(ids));
      },
      { withinMs: 30_000 },
    );
    expect(consumer.refusal()).toBeNull();
  });

  test("something that is no record at all: becomes a job without data", async () => {
    const { corner, ids } = await threeJobs({ opts: "{}" });
    const redis = corner.connect();
    const key = `${corner.prefix}:{payment}:${ids[1]}`;
    await redis.multi().del(key).set(key, "not what you think").exec();
    const consumer = startConsumer(corner, { lockDurationMs: 1_000 });
    await eventually(() => consumer.jobs.some(({ id }) => id === ids[1]), { withinMs: 30_000 });
    expect(consumer.jobs.find(({ id }) => id === ids[1])?.data).toEqual({});
    expect(new Set(consumer.jobs.map(({ id }) => id))).toEqual(new Set(ids));
  });
});
