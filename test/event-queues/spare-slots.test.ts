import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { SpareSlots } from "../../packages/event-queues/src/spare-slots.ts";
import { eventually, freshRedis } from "../support/index.ts";
import { createGate, openPlainQueues, startConsumer } from "./setting.ts";
import type { Corner, Gate, Overrides, TestConsumer } from "./setting.ts";

const DEEP = "payment.deep";
const SHALLOW = "payment.shallow";
const SLOTS = 16;
/** An eighth of them. */
const BESIDE = 2;

interface Crowd {
  readonly corner: Corner;
  readonly redis: Redis;
  readonly consumer: TestConsumer;
  /** Lets jobs of the deep lane end. */
  readonly deep: Gate;
  /** Lets the others end. */
  readonly shallow: Gate;
  readonly addShallow: (count: number) => Promise<void>;
  readonly takenShallow: () => number;
}

/** A consumer whose slots are all held by jobs of a deep lane, with more of them behind. */
async function crowd(overrides: Overrides = {}): Promise<Crowd> {
  const corner = freshRedis();
  const queues = openPlainQueues(corner);
  const [deep, shallow] = [createGate(), createGate()];
  const add = async (name: string, count: number, priority?: number): Promise<void> => {
    const opts = priority === undefined ? {} : { priority };
    await queues.payment.addBulk(Array.from({ length: count }, () => ({ name, data: {}, opts })));
  };
  await add(DEEP, 2 * SLOTS, 3);
  const consumer = startConsumer(corner, {
    concurrency: SLOTS,
    process: async ({ name }) => {
      await (name === DEEP ? deep : shallow).opened;
      return { kind: "completed" };
    },
    ...overrides,
  });
  await eventually(() => consumer.activeCount() === SLOTS);
  return {
    corner,
    redis: corner.connect(),
    consumer,
    deep,
    shallow,
    addShallow: async (count) => add(SHALLOW, count),
    takenShallow: () => consumer.jobs.filter(({ name }) => name === SHALLOW).length,
  };
}

describe("while jobs of a deep lane hold every slot", () => {
  test("a job of another order is processed beside them, and nothing more of the deep lane", async () => {
    const { corner, redis, consumer, shallow, addShallow, takenShallow, deep } = await crowd();
    shallow.open();
    for (let round = 1; round <= 5; round += 1) {
      await addShallow(1);
      await eventually(() => takenShallow() === round);
    }
    await pause(100);
    expect(consumer.jobs.filter(({ name }) => name === DEEP)).toHaveLength(SLOTS);
    expect(await redis.llen(`${corner.prefix}:{payment}:active`)).toBe(SLOTS);
    deep.open();
    await eventually(() => consumer.jobs.length === 2 * SLOTS + 5);
    await eventually(() => consumer.activeCount() === 0);
    expect(consumer.errors).toEqual([]);
  });

  test("no more than an eighth of the slots is added, and the rest comes as those end", async () => {
    const { consumer, shallow, addShallow, takenShallow, deep } = await crowd();
    await addShallow(5);
    await eventually(() => takenShallow() === BESIDE);
    await pause(200);
    expect(consumer.activeCount()).toBe(SLOTS + BESIDE);
    shallow.open();
    await eventually(() => takenShallow() === 5);
    deep.open();
    await eventually(() => consumer.jobs.length === 2 * SLOTS + 5);
  });

  test("a delayed job of a deep lane is not lost", async () => {
    const { corner, redis, consumer, deep, shallow } = await crowd();
    await openPlainQueues(corner).payment.add(DEEP, {}, { priority: 3, delay: 1 });
    await pause(200);
    expect(await redis.zcard(`${corner.prefix}:{payment}:delayed`)).toBe(1);
    deep.open();
    shallow.open();
    await eventually(() => consumer.jobs.length === 2 * SLOTS + 1);
  });

  test("it is told that others wait", async () => {
    let told = 0;
    const { addShallow, deep, shallow } = await crowd({ onOthersWaiting: () => (told += 1) });
    await pause(100);
    expect(told).toBe(0);
    await addShallow(1);
    await eventually(() => told > 0);
    shallow.open();
    deep.open();
  });

  test("closing waits until the jobs beside them have ended as well", async () => {
    const { corner, redis, consumer, shallow, deep, addShallow, takenShallow } = await crowd();
    await addShallow(1);
    await eventually(() => takenShallow() === 1);
    deep.open();
    const closing = consumer.close({ deadlineMs: 10_000 });
    await eventually(() => consumer.activeCount() === 1);
    await pause(200);
    expect(consumer.state).toBe("closing");
    shallow.open();
    await closing;
    expect(consumer.activeCount()).toBe(0);
    expect(await redis.llen(`${corner.prefix}:{payment}:active`)).toBe(0);
  });

  test("a paused consumer takes nothing beside them", async () => {
    const { consumer, addShallow, takenShallow, deep, shallow } = await crowd();
    await consumer.pause();
    await addShallow(1);
    await pause(200);
    expect(takenShallow()).toBe(0);
    deep.open();
    shallow.open();
    await eventually(() => consumer.activeCount() === 0);
    expect(takenShallow()).toBe(0);
    consumer.resume();
    await eventually(() => takenShallow() === 1);
  });
});

test("it is told of a crowd when deep jobs come to hold half of the slots, and until they no longer do", async () => {
  const told: boolean[] = [];
  const spare = new SpareSlots<never>({
    slots: 4,
    fetch: () => Promise.resolve(null),
    waiting: () => Promise.resolve(0),
    process: () => Promise.resolve(),
    onCrowd: (isThere) => told.push(isThere),
    onFound: () => {},
  });
  spare.deepBegan();
  expect(told).toEqual([]);
  spare.deepBegan();
  spare.deepBegan();
  expect(told).toEqual([true]);
  spare.deepEnded();
  expect(told).toEqual([true]);
  spare.deepEnded();
  expect(told).toEqual([true, false]);
  spare.deepEnded();
  spare.deepBegan();
  spare.deepBegan();
  await spare.close();
  expect(told).toEqual([true, false, true, false]);
});

test("a consumer whose slots are held by jobs of first priority takes nothing beyond them", async () => {
  const corner = freshRedis();
  const gate = createGate();
  const consumer = startConsumer(corner, {
    concurrency: SLOTS,
    process: async () => {
      await gate.opened;
      return { kind: "completed" };
    },
  });
  const jobs = Array.from({ length: 2 * SLOTS }, () => ({ name: SHALLOW, data: {} }));
  await openPlainQueues(corner).payment.addBulk(jobs);
  await eventually(() => consumer.activeCount() === SLOTS);
  await pause(200);
  expect(consumer.activeCount()).toBe(SLOTS);
  gate.open();
  await eventually(() => consumer.jobs.length === 2 * SLOTS);
});
