/** BullMQ and Redlock: the work is done under a lock on the order, extended for as long as it takes. */
import { Redlock } from "@sesamecare-oss/redlock";
import { Redis } from "ioredis";
import { numberOf, servePeer } from "./applier.ts";
import { takeBullmqJobs } from "./bullmq-peer.ts";

await servePeer(async (applier) => {
  const { redisUrl, prefix } = applier.ground;
  const lockMs = numberOf("BENCH_KEY_LOCK_MS") ?? 5_000;
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const locks = new Redlock([redis], {
    driftFactor: 0.01,
    retryCount: 10,
    retryDelay: 200,
    retryJitter: 200,
    automaticExtensionThreshold: 500,
  });
  const stop = await takeBullmqJobs(applier, async ({ job: { data } }) =>
    locks.using([`${prefix}:lock:${data.lcid}`], lockMs, async (signal) => {
      signal.throwIfAborted();
      await applier.applyOne(data);
    }),
  );
  return async () => {
    await stop();
    await redis.quit();
  };
});
