/** pg-boss: one active job a key, fetched in batches and deleted when done, as its documentation shows. */
import { setTimeout as pause } from "node:timers/promises";
import PgBoss from "pg-boss";
import type { EventJob } from "../contenders/event-job.ts";
import { PGBOSS_QUEUE } from "../contenders/pg-boss.ts";
import { Applier, given, numberOf } from "./applier.ts";

const PAUSE_MS = 20;

const applier = new Applier();
const { databaseUrl, concurrency, poolSize } = applier.ground;

const boss = new PgBoss({
  connectionString: databaseUrl,
  max: poolSize,
  schedule: false,
  ...given({ maintenanceIntervalSeconds: numberOf("BENCH_MAINTENANCE_SECONDS") }),
});
boss.on("error", (error) => process.stderr.write(`${error.message}\n`));
await boss.start();
const expireInSeconds = numberOf("BENCH_EXPIRE_SECONDS");
if (expireInSeconds !== undefined)
  await boss.updateQueue(PGBOSS_QUEUE, { name: PGBOSS_QUEUE, expireInSeconds });

const stopping = new AbortController();

async function takeJobs(): Promise<void> {
  while (!stopping.signal.aborted) {
    const jobs = await boss.fetch<EventJob>(PGBOSS_QUEUE, { batchSize: concurrency });
    if (jobs.length === 0) await pause(PAUSE_MS);
    else await work(jobs);
  }
}

async function work(jobs: readonly PgBoss.Job<EventJob>[]): Promise<void> {
  const done: string[] = [];
  await Promise.all(
    jobs.map(async ({ id, data }) => {
      try {
        await applier.applyOne(data);
        done.push(id);
      } catch (error) {
        await boss.fail(PGBOSS_QUEUE, id, { message: String(error) });
      }
    }),
  );
  if (done.length > 0) await boss.deleteJob(PGBOSS_QUEUE, done);
}

const taking = takeJobs();
applier.started(async () => {
  stopping.abort();
  await taking;
  await boss.stop({ graceful: false });
});
