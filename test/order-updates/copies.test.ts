import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { openStation } from "./setting.ts";
import type { Station } from "./setting.ts";

function connect({ url }: Station): Redis {
  const redis = new Redis(url);
  onTestFinished(() => redis.disconnect());
  return redis;
}

test("each name gets its copy, and nothing stays in the relay's queue", async () => {
  const station = openStation();
  const billing = await station.onRedis();
  const shipping = await station.onRedis({ name: "shipping" });
  await station.send("A", 1, 2, 3);
  await eventually(() => billing.begun.length === 3 && shipping.begun.length === 3);
  await eventually(async () => (await station.left("billing")) === 0);
  expect(billing.begun).toEqual(["A@1", "A@2", "A@3"]);
  expect(shipping.begun).toEqual(["A@1", "A@2", "A@3"]);
});

test("a job of which one name got no copy is copied again, and the others skip the second one", async () => {
  const station = openStation();
  const redis = connect(station);
  const { prefix } = station;
  await redis.sadd(`${prefix}:order-updates:names`, "shipping");
  // No list, so that nothing can be put into this queue.
  const queue = `${prefix}:{order-updates.shipping}:wait`;
  await redis.set(queue, "damaged");
  const billing = await station.onRedis();
  await station.send("A", 1);
  await eventually(() => billing.skipped.length > 0 && billing.errors.length > 0);
  await redis.del(queue);
  await eventually(async () => (await redis.llen(queue)) > 0, { withinMs: 40_000 });
  await eventually(async () => (await station.left("billing")) === 0);
  expect(billing.begun).toEqual(["A@1"]);
});

test("a consumer whose name is gone from Redis still gets what it copies itself", async () => {
  const station = openStation();
  const redis = connect(station);
  const billing = await station.onRedis();
  await redis.del(`${station.prefix}:order-updates:names`);
  await station.send("A", 1);
  await eventually(() => billing.begun.length === 1);
});

test("jobs whose data is not JSON fail where they are, are told, and others flow", async () => {
  const station = openStation();
  const redis = connect(station);
  const billing = await station.onRedis();
  const queue = `${station.prefix}:{order-updates}`;
  await redis.hset(`${queue}:x1`, { name: "order.placed", data: "{", opts: "{}", timestamp: Date.now() });
  await redis.lpush(`${queue}:wait`, "x1");
  await station.send("A", 1);
  await eventually(() => billing.begun.length === 1 && billing.consumer.counts().unusable === 1);
  expect(billing.errors).toMatchObject([
    { code: "UNUSABLE_UPDATE", queue: "{order-updates}", jobId: "x1", reason: "its data is not JSON" },
  ]);
  await eventually(async () => (await redis.zcard(`${queue}:failed`)) === 1);
});
