import { describe, expect, test } from "vitest";
import { QueueUnavailableError } from "../../packages/event-queues/src/index.ts";
import type { PublishResult } from "../../packages/event-queues/src/index.ts";
import { eventually } from "../support/index.ts";
import { eventOf, eventsOf, openLanes, openPublisher } from "./publisher-setting.ts";
import { connectTo, openPlainQueues, openReader, startOwnRedis } from "./setting.ts";

describe("while Redis is stopped", () => {
  test("publishing fails at once, typed, with its cause, and works again after the restart", async () => {
    const server = await startOwnRedis();
    const publisher = openPublisher(server, { timeoutMs: 20_000 });
    await publisher.publish(eventOf({ id: "before" }));
    await server.kill("SIGTERM");

    const startedAtMs = performance.now();
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const error: unknown = await publisher
        .publish(eventOf({ id: "during" }))
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(QueueUnavailableError);
      expect(error).toMatchObject({ code: "REDIS_AWAY" });
    }
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);

    await server.restart();
    await eventually(async () => publisher.publish(eventOf({ id: "after" })));
    // Nothing was kept back to be sent behind the caller's back.
    expect(await openLanes(server).idsIn("A-1")).toEqual(["before", "after"]);
  }, 60_000);

  test("a publisher that never reached Redis fails at once too, and connects when it is there", async () => {
    const server = await startOwnRedis();
    await server.kill();
    const publisher = openPublisher(server, { timeoutMs: 20_000 });

    await expect(publisher.publish(eventOf())).rejects.toMatchObject({ code: "REDIS_AWAY" });
    await server.restart();

    await eventually(async () => publisher.publish(eventOf()));
  }, 60_000);

  test("what was acknowledged before is there after, in order, and the rest was refused", async () => {
    const server = await startOwnRedis();
    const publisher = openPublisher(server);
    const lcids = Array.from({ length: 10 }, (_, index) => `A-${index}`);
    const events = Array.from({ length: 8_000 }, (_, index) =>
      eventOf({ lcid: `A-${index % lcids.length}`, id: `evt-${index}` }),
    );

    const publishing = publisher.publishAll(events);
    const plain = openPlainQueues(server);
    await eventually(async () => (await plain.payment.getWaitingCount()) > 0, { everyMs: 1 });
    await server.restart({ awayMs: 500 });
    const results = await publishing;

    const acknowledged = events.filter((_event, index) => results[index]?.kind === "published");
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(refusalsOf(results).filter((error) => !(error instanceof QueueUnavailableError))).toEqual([]);
    const lanes = openLanes(server);
    const standing = new Set<string>();
    for (const lcid of lcids) for (const id of await lanes.idsIn(lcid)) standing.add(id);
    expect(acknowledged.map((event) => event.id).filter((id) => !standing.has(id))).toEqual([]);
    const jobs = (await openReader(server).counts()).payment;
    expect(jobs.waiting + jobs.prioritized).toBeGreaterThanOrEqual(acknowledged.length);

    // Everything once more, as a producer would: nothing is out of place and nothing stands twice.
    const again = await eventually(async () => {
      const repeated = await publisher.publishAll(events);
      return repeated.every((result) => result.kind === "published");
    });
    expect(again).toBe(true);
    for (const lcid of lcids) {
      const inOrder = events.filter((event) => event.lcid === lcid).map((event) => event.id);
      expect(await lanes.idsIn(lcid)).toEqual(inOrder);
    }
  }, 60_000);
});

describe("while Redis is frozen", () => {
  test("everything that waits is refused once the limit has passed, and later calls work", async () => {
    const server = await startOwnRedis();
    const publisher = openPublisher(server, { timeoutMs: 700 });
    await publisher.publish(eventOf({ id: "before" }));
    server.freeze();

    const startedAtMs = performance.now();
    const calls = [
      publisher.publishAll(eventsOf("A-1", 3_000)),
      publisher.publishAll([eventOf({ lcid: "B-2" })]),
    ];
    const results = (await Promise.all(calls)).flat();
    const tookMs = performance.now() - startedAtMs;

    expect(refusalsOf(results)).toHaveLength(3_001);
    expect(refusalsOf(results)).toMatchObject(results.map(() => ({ code: "REDIS_TIMEOUT" })));
    // One limit for all, not one for each chunk.
    expect(tookMs).toBeLessThan(700 * 6);
    server.resume();
    await eventually(async () => publisher.publish(eventOf({ id: "after" })));
  }, 60_000);
});

describe("when Redis has reached its memory limit", () => {
  test("publishing is refused, typed, and works when there is room again", async () => {
    const server = await startOwnRedis();
    const publisher = openPublisher(server);
    const redis = connectTo(server);
    await publisher.publish(eventOf({ id: "before" }));
    await redis.config("SET", "maxmemory", "1");

    await expect(publisher.publish(eventOf({ id: "during" }))).rejects.toMatchObject({
      name: "QueueUnavailableError",
      code: "REDIS_OUT_OF_MEMORY",
    });

    await redis.config("SET", "maxmemory", "0");
    await publisher.publish(eventOf({ id: "after" }));
    expect(await openLanes(server).idsIn("A-1")).toEqual(["before", "after"]);
  }, 60_000);
});

describe("when Redis became a replica", () => {
  test("publishing is refused as if Redis were away, and works once it takes writes again", async () => {
    const server = await startOwnRedis();
    const publisher = openPublisher(server);
    const redis = connectTo(server);
    await publisher.publish(eventOf({ id: "before" }));
    await redis.replicaof("127.0.0.1", 1);

    await expect(publisher.publish(eventOf({ id: "during" }))).rejects.toMatchObject({ code: "REDIS_AWAY" });

    await redis.replicaof("NO", "ONE");
    await eventually(async () => publisher.publish(eventOf({ id: "after" })));
    expect(await openLanes(server).idsIn("A-1")).toEqual(["before", "after"]);
  }, 60_000);
});

describe("after SCRIPT FLUSH", () => {
  test("nothing is refused", async () => {
    const server = await startOwnRedis();
    const publisher = openPublisher(server);
    const redis = connectTo(server);
    await publisher.publishAll(eventsOf("A-1", 100));

    await redis.script("FLUSH");
    const results = await publisher.publishAll([...eventsOf("A-1", 100, 100), ...eventsOf("B-2", 100)]);

    expect(refusalsOf(results)).toEqual([]);
    expect(await openLanes(server).idsIn("A-1")).toEqual(eventsOf("A-1", 200).map((event) => event.id));
  }, 60_000);
});

describe("waiting for replicas", () => {
  test("refuses when none confirms, and acknowledges when one does", async () => {
    const server = await startOwnRedis();
    const publisher = openPublisher(server, { waitReplicas: 1, timeoutMs: 1_000 });

    const alone: unknown = await publisher.publish(eventOf()).catch((reason: unknown) => reason);
    expect(alone).toMatchObject({ name: "QueueUnavailableError", code: "REPLICAS_BEHIND" });

    await startOwnRedis({
      settings: { replicaof: `127.0.0.1 ${server.port}`, masterauth: server.password },
    });
    await eventually(async () => publisher.publish(eventOf()), { withinMs: 30_000 });
  }, 90_000);
});

function refusalsOf(results: readonly PublishResult[]): Error[] {
  return results.flatMap((result) => (result.kind === "refused" ? [result.error] : []));
}
