import PgBoss from "pg-boss";
import type { Carrier, Contender, Ground } from "./contender.ts";
import { chunksOf, eventJobsOf } from "./event-job.ts";
import { processScript, STARTED_LINE } from "./process-script.ts";
import { sparingly } from "./sparing-count.ts";

export const PGBOSS_QUEUE = "events";

const AT_ONCE = 2_000;
const BATCH_SIZE = 64;
/** Whatever befalls an event, it is tried again and never given up. */
const RETRY_LIMIT = 1_000_000;

const JOBS = "https://timgit.github.io/pg-boss/#/./api/jobs";
const QUEUES = "https://timgit.github.io/pg-boss/#/./api/queues";

export const pgboss: Contender = {
  name: "pgboss",
  version: "pg-boss 10.4.2",
  what: "pg-boss with the policy singleton, extended by a key for each order; 12 has a policy for strict order of a key (key_strict_fifo), but needs Node 22 and was not measured",
  settings: [
    {
      name: "policy, singletonKey",
      value: "singleton, lcid",
      why: "one active job, any number queued, per key",
      source: QUEUES,
    },
    {
      name: "fetching",
      value: "fetch a batch, work on all of it at once, deleteJob what is done",
      why: "the example of its documentation; its own workers look only each 0.5 s and finish a batch as one",
      source: JOBS,
    },
    {
      name: "batchSize",
      value: String(BATCH_SIZE),
      why: "one loop: a second would fail at the key the first is at, and all it fetched with it. A batch locks so many rows and keeps one of each key: here uniform gave 233 events a second at the default of 1, 402 at 16, 690 at 64 and 628 at 256, hot 157, 260, 249 and 317",
      source: JOBS,
    },
    {
      name: "pause when nothing was found",
      value: "20 ms",
      why: "far below what its own workers allow",
      source: null,
    },
    {
      name: "id",
      value: "ascending UUIDs",
      why: "jobs are taken by creation time and id, and all of one insert share a creation time",
      source: JOBS,
    },
    {
      name: "retryLimit, retryDelay",
      value: "1,000,000, 0",
      why: "no event is given up, and a retry, the oldest of its key, is next",
      source: QUEUES,
    },
    {
      name: "expireInSeconds, maintenanceIntervalSeconds",
      value: "15 min, 120",
      why: "the defaults",
      source: QUEUES,
    },
    { name: "max", value: "8", why: "connections of its own, as many as the store has", source: null },
    {
      name: "publishing",
      value: `insert, ${AT_ONCE} at once`,
      why: "many jobs in one request",
      source: JOBS,
    },
    { name: "schedule", value: "false", why: "no cron is used", source: null },
  ],
  promises: "one at a time",
  applies: true,
  script: processScript("pg-boss"),
  env: { BENCH_CONCURRENCY: String(BATCH_SIZE) },
  startedLine: STARTED_LINE,
  open,
};

async function open({ databaseUrl }: Ground): Promise<Carrier> {
  const boss = new PgBoss({ connectionString: databaseUrl, max: 2, supervise: false, schedule: false });
  // What a call cannot do it throws; this is for what runs beside the calls, and nothing does.
  boss.on("error", () => undefined);
  await boss.start();
  await boss.createQueue(PGBOSS_QUEUE, {
    name: PGBOSS_QUEUE,
    policy: "singleton",
    retryLimit: RETRY_LIMIT,
    retryDelay: 0,
  });
  const nextId = ascendingIds();
  return {
    publish: async (events) => {
      for (const chunk of chunksOf(events, AT_ONCE)) {
        await boss.insert(
          eventJobsOf(chunk).map((data) => ({
            name: PGBOSS_QUEUE,
            id: nextId(),
            singletonKey: data.lcid,
            data,
          })),
        );
      }
    },
    left: sparingly(async () => boss.getQueueSize(PGBOSS_QUEUE, { before: "completed" })),
    close: async () => boss.stop({ graceful: false }),
  };
}

/** UUIDs of version 7 that sort in the order in which they were made. */
function ascendingIds(): () => string {
  const time = Date.now().toString(16).padStart(12, "0");
  let made = 0;
  return () => {
    made += 1;
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${made.toString(16).padStart(12, "0")}`;
  };
}
