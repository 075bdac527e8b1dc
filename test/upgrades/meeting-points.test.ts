/**
 * Everything in which processes of two builds meet, written down as it stands. What is red here is no mistake of the test: two
 * builds that differ in it cannot work side by side, and docs/decisions/0025 says what to do instead.
 */
import { createPublisher } from "@junban/event-queues";
import { requestOf } from "@junban/orders";
import type { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { eventOf, freshPlace, placed, poolOf, publish, rowsOf, startWorker } from "../fleet/worker-lab.ts";
import { RawLane } from "../handoff-lock/raw-lane.ts";
import { eventually, freshRedis } from "../support/index.ts";

const READ: Record<string, (redis: Redis, key: string) => Promise<unknown>> = {
  string: (redis, key) => redis.get(key),
  list: (redis, key) => redis.lrange(key, 0, -1),
  hash: (redis, key) => redis.hgetall(key),
  set: (redis, key) => redis.smembers(key),
  zset: (redis, key) => redis.zrange(key, "0", "-1"),
};

/** Every key behind a prefix that matches, with its type and value; times are written as TIME. */
async function standing(redis: Redis, prefix: string, pattern: string): Promise<Record<string, unknown>> {
  const keys = await redis.keys(`${prefix}${pattern}`);
  const found: Record<string, unknown> = {};
  for (const key of keys.toSorted()) {
    const type = await redis.type(key);
    const value = JSON.stringify(await READ[type]?.(redis, key)).replaceAll(/(?<!\d)1\d{12}(?!\d)/g, "TIME");
    found[key.slice(prefix.length)] = { [type]: JSON.parse(value) as unknown };
  }
  return found;
}

async function heardOn(redis: Redis, channel: string): Promise<string[]> {
  const words: string[] = [];
  redis.on("message", (_, word: string) => words.push(word));
  await redis.subscribe(channel);
  return words;
}

describe("builds meet in Redis", () => {
  test("in the keys of a lane, their types, their fields and their formats", async () => {
    const place = freshRedis();
    const { prefix } = place;
    const redis = place.connect();
    const lane = new RawLane(redis, { prefix, lcid: "A-1" });
    await heardOn(place.connect(), "a process");
    await lane.queue("r1", "r2", "r3");
    await lane.enter({ token: "a token", key: "r1" });
    expect(await standing(redis, prefix, ":tries:*")).toEqual({ ":tries:{A-1}": { string: "1" } });
    await lane.enter({ token: "another", key: "r2", channel: "a process" });
    await lane.handoff({ token: "a token", others: { r1: "an outcome" } });
    expect(await standing(redis, prefix, "*")).toEqual({
      ":lock:{A-1}": { string: "a token" },
      ":wait:{A-1}": { list: ["r2", "r3"] },
      ":body:{A-1}": { hash: { r2: "TIME:body of r2", r3: "TIME:body of r3" } },
      ":seat:{A-1}": { hash: { r2: "a process" } },
      ":done:{A-1}": { hash: { r1: "TIME:an outcome" } },
    });
  });

  test("in the words on a process's channel", async () => {
    const place = freshRedis();
    const lane = new RawLane(place.connect(), { prefix: place.prefix, lcid: "A-1" });
    const words = await heardOn(place.connect(), "a process");
    await lane.queue("r1", "r2");
    await lane.enter({ token: "a token" });
    for (const key of ["r1", "r2"]) await lane.enter({ token: "another", key, channel: "a process" });
    await lane.handoff({ token: "a token", others: { r1: "an outcome" } });
    await lane.leave("a token");
    await eventually(() => words.length === 2);
    expect(words).toEqual(['["settled","A-1","r1","an outcome"]', '["wake","A-1","r2"]']);
  });

  test("in what a publisher leaves: a place in line and a job, under the same key and with the same body", async () => {
    const place = freshRedis();
    const { url, prefix } = place;
    const event = {
      ...eventOf("A-1", 1, { type: "payment.voided", data: { b: 1, a: [2] } }),
      traceparent: "t",
    };
    const publisher = createPublisher({ redis: url, prefix });
    await publisher.publish(event);
    await publisher.close();
    const body = JSON.stringify(event);
    const key = "xbZ-bICwll7c4q5txkmnEQ";
    const redis = place.connect();
    expect(requestOf(event as never).key).toBe(key);
    expect(await standing(redis, prefix, ":*:{A-1}")).toEqual({
      ":body:{A-1}": { hash: { [key]: `TIME:${body}` } },
      ":wait:{A-1}": { list: [key] },
    });
    expect(await standing(redis, prefix, ":{payment}:[0-9]*")).toEqual({
      ":{payment}:1": {
        hash: {
          name: "payment.voided",
          data: body,
          opts: '{"attempts":0}',
          timestamp: "TIME",
          delay: "0",
          priority: "0",
        },
      },
    });
  });

  test("in the sweeper's lane, and in what the outcome of an event looks like", async () => {
    const place = await freshPlace();
    const redis = freshRedis().connect();
    const worker = await startWorker(place);
    await eventually(async () => (await redis.exists(`${place.prefix}-maintenance:lock:{sweeper}`)) === 1);
    // An event that stands and whose job never comes leaves its outcome behind.
    const lane = new RawLane(redis, { prefix: place.prefix, lcid: "A-1" });
    const event = placed("A-1");
    const { key, body } = requestOf(event as never);
    await lane.run("queue", [10, 60_000, key, body]);
    await publish(place, [eventOf("A-1", 2, { type: "gift.wrapped", data: {} })]);
    await eventually(async () => (await rowsOf(place)).length === 2, { withinMs: 30_000 });
    await eventually(async () => (await redis.exists(lane.key("done"))) === 1);
    expect(await standing(redis, place.prefix, ":done:*")).toEqual({
      ":done:{A-1}": { hash: { [key]: 'TIME:{"outcome":"applied","reason":null,"version":1}' } },
    });
    worker.tree.signal("SIGTERM");
    expect((await worker.exited).code).toBe(0);
  });
});

describe("builds meet in Postgres", () => {
  test("in the lock of whoever passes the outbox on, and in what is passed on", async () => {
    const place = await freshPlace();
    const worker = await startWorker(place, { JUNBAN_RELAY: "on" });
    await eventually(async () => {
      const { rows } = await poolOf(place).query(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
           AND (classid::bigint << 32) | objid::bigint = hashtextextended('junban outbox', 0)`,
      );
      return rows.length === 1;
    });
    await publish(place, [placed("A-1")]);
    const redis = freshRedis().connect();
    const job = `${place.prefix}:{order-updates}:A-1!1`;
    const data = await eventually(async () => (await redis.hget(job, "data")) ?? false, { withinMs: 30_000 });
    expect(JSON.parse(data)).toMatchObject({
      lcid: "A-1",
      version: 1,
      event: { source: "/lab", id: "A-1-0", type: "order.placed" },
      order: { status: "placed" },
    });
    worker.tree.signal("SIGTERM");
    expect((await worker.exited).code).toBe(0);
  });
});
