/** BullMQ and Redlock: the work is done under a lock on the order, extended for as long as it takes. */
import { Redlock } from "@sesamecare-oss/redlock";
import { Redis } from "ioredis";
import { Applier, numberOf } from "./applier.ts";
import { takeBullmqJobs } from "./bullmq-peer.ts";

const lockMs = numberOf("BENCH_KEY_LOCK_MS") ?? 5_000;

const applier = new Applier();
const redis = new Redis(applier.ground.redisUrl, { maxRetriesPerRequest: null });
const locks = new Redlock([redis], {
  driftFactor: 0.01,
  retryCount: 10,
  retryDelay: 200,
  retryJitter: 200,
  automaticExtensionThreshold: 500,
});

await takeBullmqJobs(applier, {
  process: async ({ job: { data } }) =>
    locks.using([`${applier.ground.prefix}:lock:${data.lcid}`], lockMs, async (signal) => {
      if (signal.aborted) throw signal.error ?? new Error("the lock was lost");
      await applier.applyOne(data);
    }),
  close: async () => redis.quit(),
});
