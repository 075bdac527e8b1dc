/** BullMQ and a key of Redis that says that somebody is at this order, the way it is usually written first. */
import { DelayedError } from "bullmq";
import { Redis } from "ioredis";
import { numberOf, servePeer } from "./applier.ts";
import { takeBullmqJobs } from "./bullmq-peer.ts";

const DELAY_MS = 50;

await servePeer(async (applier) => {
  const { redisUrl, prefix } = applier.ground;
  const lockMs = numberOf("BENCH_KEY_LOCK_MS") ?? 30_000;
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const stop = await takeBullmqJobs(applier, async ({ job, token }) => {
    const key = `${prefix}:lock:${job.data.lcid}`;
    const holder = `${process.pid}:${job.id}:${performance.now()}`;
    if ((await redis.set(key, holder, "PX", lockMs, "NX")) !== "OK") {
      await job.moveToDelayed(Date.now() + DELAY_MS + Math.random() * DELAY_MS, token);
      throw new DelayedError();
    }
    try {
      await applier.applyOne(job.data);
    } finally {
      if ((await redis.get(key)) === holder) await redis.del(key);
    }
  });
  return async () => {
    await stop();
    await redis.quit();
  };
});
