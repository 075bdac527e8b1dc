/** BullMQ and a key of Redis that says that somebody is at this order, the way it is usually written first. */
import { DelayedError } from "bullmq";
import { Redis } from "ioredis";
import { Applier, numberOf } from "./applier.ts";
import { takeBullmqJobs, type HeldJob } from "./bullmq-peer.ts";

const DELAY_MS = 50;
const lockMs = numberOf("BENCH_KEY_LOCK_MS") ?? 30_000;

const applier = new Applier();
const redis = new Redis(applier.ground.redisUrl, { maxRetriesPerRequest: null });

async function applyAlone({ job, token = "" }: HeldJob): Promise<void> {
  const key = `${applier.ground.prefix}:lock:${job.data.lcid}`;
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
}

await takeBullmqJobs(applier, { process: applyAlone, close: async () => redis.quit() });
