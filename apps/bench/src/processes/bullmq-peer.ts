import { Worker, type Job } from "bullmq";
import type { EventJob } from "../contenders/event-job.ts";
import { BULLMQ_QUEUE } from "../contenders/peer-queue.ts";
import { given, numberOf, type Applier } from "./applier.ts";

/** A job in hand, and the token under which this worker holds it. */
export interface HeldJob {
  readonly job: Job<EventJob>;
  readonly token: string | undefined;
}

/** Takes jobs by plain BullMQ, all of them in one worker; answers how to stop. */
export async function takeBullmqJobs(
  applier: Applier,
  work: (held: HeldJob) => Promise<void>,
): Promise<() => Promise<void>> {
  const { redisUrl, prefix, concurrency } = applier.ground;
  const backoffMs = numberOf("BENCH_RETRY_BACKOFF_MS") ?? 0;
  const worker = new Worker<EventJob>(BULLMQ_QUEUE, async (job, token) => work({ job, token }), {
    connection: { url: redisUrl, maxRetriesPerRequest: null },
    prefix,
    concurrency,
    settings: { backoffStrategy: () => backoffMs },
    ...given({
      lockDuration: numberOf("BENCH_LOCK_DURATION_MS"),
      stalledInterval: numberOf("BENCH_STALLED_INTERVAL_MS"),
      maxStalledCount: numberOf("BENCH_MAX_STALLED_COUNT"),
    }),
  });
  worker.on("error", (error) => process.stderr.write(`${error.message}\n`));
  await worker.waitUntilReady();
  return async () => worker.close();
}
