import { setTimeout as sleep } from "node:timers/promises";
import { createQueueReader } from "@junban/event-queues";
import { startRedis } from "@junban/sandbox";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { eventually, freshDatabase } from "../support/index.ts";
import {
  eventsOf,
  expectPublishOrder,
  freshLcid,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
} from "./worker-lab.ts";

test("scripts are flushed from Redis all the time, those of lanes and of queues: a fleet does all its work, and in order", async () => {
  const server = await startRedis({ appendOnly: false });
  onTestFinished(() => server.stop());
  const place = { databaseUrl: await freshDatabase(), redisUrl: server.url, prefix: "flushed" };
  const redis = new Redis(server.url);
  onTestFinished(() => redis.disconnect());
  const reader = createQueueReader({ redis: server.url, prefix: place.prefix });
  onTestFinished(() => reader.close());
  const workers = await Promise.all([startWorker(place, SHORT_LEASE), startWorker(place, SHORT_LEASE)]);
  const stop = new AbortController();
  const flushing = (async () => {
    let flushes = 0;
    for (; !stop.signal.aborted; flushes += 1) {
      await redis.script("FLUSH");
      await sleep(2);
    }
    return flushes;
  })();

  const lcids = Array.from({ length: 20 }, () => freshLcid());
  for (let from = 0; from < 20; from += 5) {
    await publish(
      place,
      lcids.flatMap((lcid) => eventsOf(lcid, from + 5).slice(from)),
    );
  }
  await eventually(async () => (await rowsOf(place)).length === 400, { withinMs: 60_000 });
  await eventually(
    async () => {
      for (const counts of Object.values(await reader.counts())) {
        expect(counts).toEqual({ waiting: 0, prioritized: 0, active: 0, delayed: 0, failed: 0 });
      }
    },
    { withinMs: 30_000 },
  );
  stop.abort();
  expect(await flushing).toBeGreaterThan(20);
  await expectPublishOrder(place, lcids, 20);
  for (const { tree, exited } of workers) {
    tree.signal("SIGTERM");
    expect((await exited).code).toBe(0);
    expect(tree.stdout()).not.toMatch(/"level":"(?:error|fatal)"/);
  }
}, 180_000);
