import { migrate } from "@junban/order-store";
import { startSandbox } from "@junban/sandbox";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { authorized, freshLcid, placed, poolOf, publish, SHORT_LEASE, startWorker } from "./worker-lab.ts";
import type { Envelope, Place } from "./worker-lab.ts";

const LIMIT_MS = 180_000;
const WAVES = 8;
const OTHERS = 60;
const EVENTS_OF_OTHERS = 10;
const EVENTS_OF_THE_HOT_ONE = 400;
const KEPT_FAILED = 5;
const KIB = 1024;

/** A sample of what a soak does for hours: the same mix of work again and again, and a look at what stays behind each time. */
describe("thousands of events", () => {
  test(
    "leave no more keys and memory in Redis and no more series in the metrics than the first of them did, and a hot order makes no multixacts",
    async () => {
      const sandbox = await startSandbox();
      onTestFinished(() => sandbox.stop());
      const databaseUrl = await sandbox.postgres.createDatabase();
      await migrate({ databaseUrl });
      const place: Place = { databaseUrl, redisUrl: sandbox.redis.url, prefix: "plateau" };
      const redis = new Redis(place.redisUrl, { maxRetriesPerRequest: null });
      onTestFinished(() => redis.disconnect());
      const queue = new Queue("{payment}", { connection: redis, prefix: place.prefix });
      const env = { ...SHORT_LEASE, JUNBAN_KEEP_FAILED: String(KEPT_FAILED) };
      const [worker] = await Promise.all([startWorker(place, env), startWorker(place, env)]);
      const hot = freshLcid();
      await publish(place, [placed(hot)]);
      const multixactsBefore = await nextMultixact(place);

      let events = 1;
      const bytes: number[] = [];
      const series: number[] = [];
      for (let wave = 0; wave < WAVES; wave += 1) {
        const work = waveOf(hot, wave);
        await publish(place, work);
        await queue.addBulk(
          Array.from({ length: 20 }, () => ({ name: "no event", data: { note: "y".repeat(KIB) } })),
        );
        events += work.length;
        await eventually(async () => expect(await decided(place)).toBe(events), { withinMs: 60_000 });
        bytes.push(await bytesWhenClear(redis));
        series.push((await worker.get("/metrics")).text.split("\n").length);
      }

      // The streams in which BullMQ keeps its latest ten thousand notices fill in the first half.
      expect(bytes.at(-1)).toBeLessThan((bytes.at(WAVES / 2 - 1) ?? 0) + 512 * KIB);
      expect(new Set(series).size).toBe(1);
      expect((await nextMultixact(place)) - multixactsBefore).toBe(0);
    },
    LIMIT_MS,
  );
});

function waveOf(hot: string, wave: number): Envelope[] {
  const first = 1 + wave * EVENTS_OF_THE_HOT_ONE;
  return [
    ...Array.from({ length: EVENTS_OF_THE_HOT_ONE }, (_, index) =>
      authorized(hot, { number: first + index }),
    ),
    ...Array.from({ length: OTHERS }, () => freshLcid()).flatMap((lcid) => [
      placed(lcid),
      ...Array.from({ length: EVENTS_OF_OTHERS - 1 }, (_, index) => authorized(lcid, { number: index + 1 })),
    ]),
  ];
}

async function decided(place: Place): Promise<number> {
  const { rows } = await poolOf(place).query<{ events: number }>(
    "SELECT count(*)::int AS events FROM order_events",
  );
  return rows[0]?.events ?? 0;
}

/** What Redis takes once no order and no job of this wave is left in it, which they all must. */
async function bytesWhenClear(redis: Redis): Promise<number> {
  await eventually(
    async () => {
      const names = await redis.keys("*");
      expect(names.filter((name) => /order-|:active$|:wait$|:prioritized$|:delayed$/.test(name))).toEqual([]);
      // Four queues with a few keys each, the sweeper's own, and the failed jobs that are kept.
      expect(names.length).toBeLessThan(25 + KEPT_FAILED);
    },
    { withinMs: 60_000 },
  );
  return Number(/used_memory:(\d+)/.exec(await redis.info("memory"))?.[1]);
}

/** Of the whole server, so only this test's own has nobody else's in it. */
async function nextMultixact(place: Place): Promise<number> {
  await poolOf(place).query("CHECKPOINT");
  const { rows } = await poolOf(place).query<{ next: number }>(
    "SELECT next_multixact_id::text::int AS next FROM pg_control_checkpoint()",
  );
  return rows[0]?.next ?? 0;
}
