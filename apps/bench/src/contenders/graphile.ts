import { makeWorkerUtils } from "graphile-worker";
import type { Carrier, Contender, Ground } from "./contender.ts";
import { chunksOf, eventJobsOf } from "./event-job.ts";
import { processScript, STARTED_LINE } from "./process-script.ts";
import { sparingly } from "./sparing-count.ts";

export const GRAPHILE_TASK = "apply";

const AT_ONCE = 2_000;
/** The most that its column holds; whatever befalls an event, it is tried again and never given up. */
const MAX_ATTEMPTS = 32_767;
const DAY_MS = 86_400_000;

const PERFORMANCE = "https://worker.graphile.org/docs/performance";

export const graphile: Contender = {
  name: "graphile",
  version: "graphile-worker 0.17.3",
  what: "Graphile Worker with a named queue for each order",
  settings: [
    {
      name: "queueName",
      value: "lcid",
      why: "jobs of one named queue run in series; its types warn that many names cost speed, but there is no other way to a key",
      source: "https://worker.graphile.org/docs/library/add-job",
    },
    {
      name: "runAt",
      value: "a millisecond later for each event, from a day ago on",
      why: "jobs are taken by priority and runAt, and all of one call would share one",
      source: "https://worker.graphile.org/docs/library/add-jobs",
    },
    {
      name: "concurrentJobs, maxPoolSize",
      value: "24, 25",
      why: "the numbers of its own performance test; each job looks for the next by a query of its own, so more of them hinder each other",
      source: PERFORMANCE,
    },
    {
      name: "pollInterval",
      value: "100 ms",
      why: "a query that meets another at the queues' rows finds nothing and comes back only after this",
      source: "https://worker.graphile.org/docs/config",
    },
    {
      name: "localQueue",
      value: "off",
      why: "in 0.17.3 it runs several jobs of one named queue at once, which breaks the only promise it has for a key",
      source: "https://github.com/graphile/worker/issues/621",
    },
    {
      name: "completeJobBatchDelay, failJobBatchDelay",
      value: "0, 0",
      why: "advised for everybody, even at 0; longer would keep an order's queue locked after its job",
      source: PERFORMANCE,
    },
    {
      name: "maxAttempts",
      value: "32,767",
      why: "no event is given up",
      source: "https://worker.graphile.org/docs/library/add-job",
    },
    {
      name: "publishing",
      value: `addJobs, ${AT_ONCE} at once`,
      why: "its way of adding a batch",
      source: "https://worker.graphile.org/docs/library/add-jobs",
    },
    { name: "logger", value: "errors only", why: "a line for each job would cost time", source: null },
  ],
  promises: "one at a time",
  applies: true,
  script: processScript("graphile"),
  env: { BENCH_CONCURRENCY: "24" },
  startedLine: STARTED_LINE,
  open,
};

async function open({ databaseUrl }: Ground): Promise<Carrier> {
  const utils = await makeWorkerUtils({ connectionString: databaseUrl, maxPoolSize: 2 });
  await utils.migrate();
  let nextRunAtMs = Date.now() - DAY_MS;
  return {
    publish: async (events) => {
      for (const chunk of chunksOf(events, AT_ONCE)) {
        const specs = eventJobsOf(chunk).map((payload) => {
          nextRunAtMs += 1;
          return {
            identifier: GRAPHILE_TASK,
            payload,
            queueName: payload.lcid,
            runAt: new Date(nextRunAtMs),
            maxAttempts: MAX_ATTEMPTS,
          };
        });
        await utils.addJobs(specs);
      }
    },
    left: sparingly(async () =>
      utils.withPgClient(async (client) => {
        const { rows } = await client.query<{ left: number }>(
          "select count(*)::int as left from graphile_worker.jobs where attempts < max_attempts or locked_at is not null",
        );
        return rows[0]?.left ?? 0;
      }),
    ),
    close: async () => utils.release(),
  };
}
