import { Queue } from "groupmq";
import { Redis } from "ioredis";
import type { Carrier, Contender, Ground } from "./contender.ts";
import { chunksOf, eventJobsOf, type EventJob } from "./event-job.ts";
import { processScript, STARTED_LINE } from "./process-script.ts";
import { sparingly } from "./sparing-count.ts";

const AT_ONCE = 500;
/** Fewer than these, and no other call under way, go in by themselves. */
const FEW = 50;
/** In hand at once. */
const CONCURRENCY = 64;
/** Whatever befalls an event, it is tried again and never given up. */
export const GROUPMQ_ATTEMPTS = 1_000_000;

const README = "node_modules/groupmq/README.md";
const DOCS = "https://openpanel-dev.github.io/groupmq/docs";

export const groupmq: Contender = {
  name: "groupmq",
  version: "groupmq 1.1.0",
  what: "GroupMQ with a group for each order",
  settings: [
    { name: "groupId", value: "lcid", why: "one group is one order", source: README },
    {
      name: "concurrency",
      value: String(CONCURRENCY),
      why: "above 1 for jobs that wait for a database; its pages give no number. Here zipf gave 552 events a second at 16, 1,180 at 64 and 1,237 at 256, uniform 1,222, 1,240 and 1,094",
      source: `${DOCS}/scaling-workers`,
    },
    {
      name: "orderMs, orderingDelayMs",
      value: "the time of add(), 0",
      why: "events are added in their order already, and any window only adds latency",
      source: `${DOCS}/ordering-methods`,
    },
    {
      name: "keepCompleted, keepFailed",
      value: "0, 0",
      why: "the defaults: finished jobs do not pile up",
      source: README,
    },
    {
      name: "maxAttempts",
      value: "1,000,000",
      why: "a busy order is tried again and no event is given up; the default of 3 would lose it",
      source: `${DOCS}/error-handling-retries`,
    },
    {
      name: "autoBatch",
      value: `{ size: ${AT_ONCE}, maxWaitMs: 1 } for ${FEW} events or more, or while another call is under way; otherwise off`,
      why: "its own way of adding many jobs in one call, in their order. It is off by default, and a job that comes alone would wait a millisecond for others",
      source: "node_modules/groupmq/dist/index.d.ts",
    },
    {
      name: "jobTimeoutMs, stalledInterval, maxStalledCount, backoff",
      value: "30 s, 60 s, 2, 0.5 s doubling to 30 s",
      why: "the defaults at more than 50 jobs at once",
      source: `${DOCS}/stalled-jobs`,
    },
    {
      name: "maxRetriesPerRequest",
      value: "null",
      why: "the Redis connection as its examples open it",
      source: `${DOCS}/scaling-workers`,
    },
  ],
  promises: "publish order",
  applies: true,
  script: processScript("groupmq"),
  env: { BENCH_CONCURRENCY: String(CONCURRENCY) },
  startedLine: STARTED_LINE,
  open,
};

async function open({ redisUrl, prefix }: Ground): Promise<Carrier> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const common = { redis, namespace: prefix, maxAttempts: GROUPMQ_ATTEMPTS };
  const queue = new Queue<EventJob>(common);
  // On the same connection, so that what is added by the one is not overtaken by the other.
  const gathering = new Queue<EventJob>({ ...common, autoBatch: { size: AT_ONCE, maxWaitMs: 1 } });
  const waiting = sparingly(async () => queue.getWaitingCount());
  let callsUnderWay = 0;
  return {
    publish: async (events) => {
      callsUnderWay += 1;
      const to = events.length < FEW && callsUnderWay === 1 ? queue : gathering;
      try {
        for (const chunk of chunksOf(events, AT_ONCE)) {
          await Promise.all(eventJobsOf(chunk).map(async (data) => to.add({ groupId: data.lcid, data })));
        }
      } finally {
        callsUnderWay -= 1;
      }
    },
    left: async () => {
      const [groups, inHand, delayed] = await unendedOf(redis, queue.namespace);
      // Counting what waits visits every group, so it is done only for a number, never to learn that all is done.
      return groups + inHand + delayed === 0 ? 0 : Math.max(1, (await waiting()) + inHand);
    },
    close: async () => {
      // They end their connection with the first of them.
      await gathering.close();
      await queue.close();
    },
  };
}

/**
 * Groups that have jobs or are ready, jobs in hand, and delayed ones, read in one instant: a job moves between them. A job
 * that comes back for a retry may stand in its group while the set of groups does not name it, hence the ready ones.
 */
async function unendedOf(redis: Redis, namespace: string): Promise<readonly [number, number, number]> {
  const replies = await redis
    .multi()
    .scard(`${namespace}:groups`)
    .zcard(`${namespace}:ready`)
    .zcard(`${namespace}:processing`)
    .zcard(`${namespace}:delayed`)
    .exec();
  const [groups = 0, ready = 0, inHand = 0, delayed = 0] = (replies ?? []).map(([, count]) => Number(count));
  return [groups + ready, inHand, delayed];
}
