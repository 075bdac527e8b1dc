/** GroupMQ: one job of a group at a time, in the order in which they were added. */
import { Queue, Worker } from "groupmq";
import { Redis } from "ioredis";
import type { EventJob } from "../contenders/event-job.ts";
import { GROUPMQ_ATTEMPTS } from "../contenders/groupmq.ts";
import { given, numberOf, servePeer } from "./applier.ts";

await servePeer(async (applier) => {
  const { redisUrl, prefix, concurrency } = applier.ground;
  const backoffMs = numberOf("BENCH_RETRY_BACKOFF_MS");
  const queue = new Queue<EventJob>({
    redis: new Redis(redisUrl, { maxRetriesPerRequest: null }),
    namespace: prefix,
    maxAttempts: GROUPMQ_ATTEMPTS,
    ...given({ jobTimeoutMs: numberOf("BENCH_JOB_TIMEOUT_MS") }),
  });
  const worker = new Worker<EventJob>({
    queue,
    concurrency,
    handler: async (job) => applier.applyOne(job.data),
    ...given({
      stalledInterval: numberOf("BENCH_STALLED_INTERVAL_MS"),
      stalledGracePeriod: numberOf("BENCH_STALLED_GRACE_MS"),
      maxStalledCount: numberOf("BENCH_MAX_STALLED_COUNT"),
      backoff: backoffMs === undefined ? undefined : () => backoffMs,
    }),
  });
  worker.on("error", (error) => process.stderr.write(`${error.message}\n`));
  // It ends only when the worker does.
  void worker.run();
  return async () => {
    await worker.close();
    await queue.close();
  };
});
