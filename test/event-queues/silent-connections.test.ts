import { startProxy } from "@junban/sandbox";
import type { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import { eventOf, openPublisher } from "./publisher-setting.ts";
import { addJobs, connectTo, openPlainQueues, startConsumer, startOwnRedis } from "./setting.ts";
import type { Corner } from "./setting.ts";

/** A corner of Redis behind a line on which the connections open so far can be made silent, while new ones work. */
async function silenceable(): Promise<Corner & { silence(): void }> {
  const { url, prefix } = freshRedis();
  let seen = 0;
  let silent = 0;
  const proxy = await startProxy({
    url,
    onData: (_direction, _chunk, connection) => {
      seen = Math.max(seen, connection);
      return connection <= silent ? "drop" : "pass";
    },
  });
  onTestFinished(async () => proxy.close());
  return { url: proxy.url, prefix, silence: () => (silent = seen) };
}

describe("a connection that went silent without anybody being told", () => {
  test("a publisher refuses what waits, and goes on over another one", async () => {
    const corner = await silenceable();
    const publisher = openPublisher(corner, { timeoutMs: 700 });
    await publisher.publish(eventOf({ id: "before" }));
    corner.silence();
    await expect(publisher.publish(eventOf({ id: "during" }))).rejects.toMatchObject({
      code: "REDIS_TIMEOUT",
    });
    await eventually(async () => publisher.publish(eventOf({ id: "after" })));
  });

  test("a consumer fetches over another one", async () => {
    const corner = await silenceable();
    const consumer = startConsumer(corner, { lockDurationMs: 1_000 });
    const queues = openPlainQueues(corner);
    await addJobs(queues, "payment", 1);
    await eventually(() => consumer.jobs.length === 1);
    corner.silence();
    await addJobs(openPlainQueues(corner), "payment", 3);
    await eventually(() => consumer.jobs.length === 4, { withinMs: 40_000 });
  });
});

describe("a connection that leads to a replica", () => {
  async function connectionIds(redis: Redis): Promise<readonly string[]> {
    return [...String(await redis.client("LIST")).matchAll(/^id=(\d+)/gm)].map(([, id]) => id ?? "");
  }

  test("is given up by a publisher, for only a new one finds the new primary", async () => {
    const server = await startOwnRedis();
    const publisher = openPublisher(server);
    await publisher.publish(eventOf({ id: "before" }));
    const redis = connectTo(server);
    await redis.replicaof("127.0.0.1", 1);
    const before = await connectionIds(redis);
    await expect(publisher.publish(eventOf({ id: "during" }))).rejects.toMatchObject({ code: "REDIS_AWAY" });
    // Only the test's own connection stays.
    await eventually(async () => {
      const now = await connectionIds(redis);
      expect(before.filter((id) => now.includes(id))).toHaveLength(1);
    });
  });
});
