import { createPublisher, createQueueReader } from "@junban/event-queues";
import { Queue, Worker } from "bullmq";
import { expect, onTestFinished, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import type { ScaledObject } from "./keda.ts";
import { kustomized } from "./kustomize.ts";

const scaledObject = kustomized("deploy/kubernetes/overlays/example").find(
  ({ kind }) => kind === "ScaledObject",
);
const { triggers, advanced } = (scaledObject as unknown as ScaledObject).spec;
const { formula } = advanced.scalingModifiers;

const FAMILIES = ["payment", "inventory", "line-item", "cancel"] as const;
/** Powers of two, so that no two mistakes cancel each other out. */
const COUNTS = FAMILIES.map((family, index) => ({
  family,
  waiting: 1 << index,
  prioritized: 2 ** (index + 4),
  delayed: 3 + index,
  active: 7 + 2 * index,
}));

test("the number of workers follows every job between publish and completion, of each family and in each state", async () => {
  const redis = freshRedis();
  for (const { family, ...counts } of COUNTS) await fill(redis, family, counts);
  const asked = await askLikeKeda(redis);
  for (const { family, ...counts } of COUNTS) {
    const name = family.replace("-", "_");
    const told = Object.keys(counts).map((state) => [state, asked.get(`${name}_${state}`)]);
    expect(Object.fromEntries(told), name).toEqual(counts);
  }
  const all = COUNTS.reduce(
    (sum, { waiting, prioritized, delayed, active }) => sum + waiting + prioritized + delayed + active,
    0,
  );
  expect(workIn(asked)).toBe(all);
  expect(await ownCount(redis)).toBe(all);
});

test("and events count as many as were published, however deep their line", async () => {
  const redis = freshRedis();
  expect(workIn(await askLikeKeda(redis))).toBe(0);
  const publisher = createPublisher({ redis: redis.url, prefix: redis.prefix });
  onTestFinished(async () => publisher.close());
  const results = await publisher.publishAll(
    Array.from({ length: 300 }, (_, number) => ({
      specversion: "1.0",
      id: `e-${number}`,
      source: "/shop",
      type: "payment.authorized",
      lcid: number < 200 ? "deep" : `o-${number}`,
      data: { authorizationId: `a-${number}`, amount: 1, currency: "JPY" },
    })),
  );
  expect(results.filter(({ kind }) => kind === "refused")).toEqual([]);
  const asked = await askLikeKeda(redis);
  expect(workIn(asked)).toBe(300);
  // Deep lines are put behind the others: jobs that a count of the waiting list alone would miss.
  expect(asked.get("payment_prioritized")).toBeGreaterThan(0);
});

type FreshRedis = ReturnType<typeof freshRedis>;

interface Counts {
  readonly waiting: number;
  readonly prioritized: number;
  readonly delayed: number;
  readonly active: number;
}

/** Jobs of a family in each state, put there by BullMQ itself. */
async function fill({ url, prefix }: FreshRedis, family: string, counts: Counts): Promise<void> {
  const place = { connection: { url, maxRetriesPerRequest: null }, prefix };
  const queue = new Queue(`{${family}}`, place);
  onTestFinished(async () => queue.close());
  const add = async (count: number, opts: object): Promise<void> => {
    await queue.addBulk(
      Array.from({ length: count }, (_, number) => ({ name: "held", data: { number }, opts })),
    );
  };
  await add(counts.active, {});
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const worker = new Worker(`{${family}}`, async () => held, { ...place, concurrency: counts.active });
  onTestFinished(async () => {
    release();
    await worker.close(true);
  });
  await eventually(async () => (await queue.getActiveCount()) === counts.active);
  await add(counts.waiting, {});
  await add(counts.prioritized, { priority: 7 });
  await add(counts.delayed, { delay: 3_600_000 });
}

/** As KEDA asks: the type of each key decides how its members are counted, and a key that is not there has none. */
async function askLikeKeda(redis: FreshRedis): Promise<ReadonlyMap<string, number>> {
  const client = redis.connect();
  const asked = await Promise.all(
    triggers.map(async ({ name, metadata }) => {
      const key = metadata.listName.replace(/^junban:/, `${redis.prefix}:`);
      expect(key).not.toBe(metadata.listName);
      return [
        name,
        (await client.type(key)) === "zset" ? await client.zcard(key) : await client.llen(key),
      ] as const;
    }),
  );
  return new Map(asked);
}

/** The formula, which is a sum of triggers. */
function workIn(asked: ReadonlyMap<string, number>): number {
  const names = formula.split("+").map((name) => name.trim());
  return names.reduce((sum, name) => {
    const count = asked.get(name);
    if (count === undefined) throw new Error(`the formula names ${name}, and no trigger is called so`);
    return sum + count;
  }, 0);
}

async function ownCount({ url, prefix }: FreshRedis): Promise<number> {
  const reader = createQueueReader({ redis: url, prefix });
  onTestFinished(async () => reader.close());
  const counts = Object.values(await reader.counts());
  return counts.reduce(
    (sum, { waiting, prioritized, delayed, active }) => sum + waiting + prioritized + delayed + active,
    0,
  );
}
