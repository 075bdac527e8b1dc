/** Graphile Worker: one job of a named queue at a time. */
import { Logger, run } from "graphile-worker";
import type { EventJob } from "../contenders/event-job.ts";
import { GRAPHILE_TASK } from "../contenders/graphile.ts";
import { given, numberOf, servePeer } from "./applier.ts";

const POLL_INTERVAL_MS = 100;

await servePeer(async (applier) => {
  const { databaseUrl, concurrency } = applier.ground;
  const resetLockedMs = numberOf("BENCH_RESET_LOCKED_MS");
  const runner = await run({
    noHandleSignals: true,
    taskList: { [GRAPHILE_TASK]: async (payload) => applier.applyOne(payload as EventJob) },
    preset: {
      worker: {
        connectionString: databaseUrl,
        concurrentJobs: concurrency,
        maxPoolSize: concurrency + 1,
        pollInterval: POLL_INTERVAL_MS,
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        logger: new Logger(() => (level: string, message) => {
          if (level === "error") process.stderr.write(`${message}\n`);
        }),
        ...given({ minResetLockedInterval: resetLockedMs, maxResetLockedInterval: resetLockedMs }),
      },
    },
  });
  return async () => runner.stop();
});
