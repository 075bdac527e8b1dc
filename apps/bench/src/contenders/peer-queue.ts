import { Queue } from "bullmq";
import type { Carrier, Ground, Setting } from "./contender.ts";
import { chunksOf, eventJobsOf } from "./event-job.ts";

/** The one queue of a BullMQ peer: events of all families in publish order. */
export const BULLMQ_QUEUE = "events";

/** Whatever befalls an event, it is tried again and never given up. */
const ATTEMPTS = 1_000_000;
const AT_ONCE = 2_000;

/** The producer's end of the three peers that work on plain BullMQ and differ in how they lock. */
export async function openBullmqCarrier({ redisUrl, prefix }: Ground): Promise<Carrier> {
  const queue = new Queue(BULLMQ_QUEUE, {
    connection: { url: redisUrl, maxRetriesPerRequest: null },
    prefix,
    // Custom: the process decides how long a failed job stays away, so that a recovery test can set it there.
    defaultJobOptions: { removeOnComplete: true, attempts: ATTEMPTS, backoff: { type: "custom" } },
  });
  await queue.waitUntilReady();
  return {
    publish: async (events) => {
      for (const chunk of chunksOf(events, AT_ONCE)) {
        await queue.addBulk(eventJobsOf(chunk).map((job) => ({ name: "event", data: job })));
      }
    },
    left: async () => queue.getJobCountByTypes("waiting", "active", "delayed", "prioritized"),
    close: async () => queue.close(),
  };
}

/** What the three have in common; they differ in how many jobs in hand serve them best. */
export function bullmqSettings({
  concurrency,
  why,
}: {
  concurrency: number;
  why: string;
}): readonly Setting[] {
  return [
    {
      name: "concurrency",
      value: String(concurrency),
      why: `a high factor is good practice for jobs that wait for a database, and no number is advised. ${why}`,
      source: "https://docs.bullmq.io/guide/workers/concurrency",
    },
    ...COMMON_SETTINGS,
  ];
}

const COMMON_SETTINGS: readonly Setting[] = [
  {
    name: "queues",
    value: "1",
    why: "all families in one queue, with all the concurrency in one worker: the best chance of publish order",
    source: null,
  },
  {
    name: "removeOnComplete",
    value: "true",
    why: "finished jobs do not pile up",
    source: "https://docs.bullmq.io/guide/queues/auto-removal-of-jobs",
  },
  {
    name: "attempts, backoff",
    value: "1,000,000, fixed 100 ms",
    why: "a busy order is tried again and no event is given up",
    source: "https://docs.bullmq.io/guide/retrying-failing-jobs",
  },
  {
    name: "publishing",
    value: "addBulk, 2,000 at once",
    why: "one transaction for many jobs, in their order",
    source: "https://docs.bullmq.io/guide/queues/adding-bulks",
  },
  {
    name: "lockDuration, stalledInterval, maxStalledCount",
    value: "30 s, 30 s, 1",
    why: "the defaults, which normally need no change",
    source: "https://docs.bullmq.io/guide/workers/stalled-jobs",
  },
];

/** What each of them sets for its process. */
export function bullmqEnv({ concurrency }: { concurrency: number }): Readonly<Record<string, string>> {
  return { BENCH_RETRY_BACKOFF_MS: "100", BENCH_CONCURRENCY: String(concurrency) };
}
