/** pg-boss: one active job a key, fetched in batches and deleted when done, as its documentation shows. */
import { setTimeout as pause } from "node:timers/promises";
import PgBoss from "pg-boss";
import type { EventJob } from "../contenders/event-job.ts";
import { PGBOSS_QUEUE } from "../contenders/pg-boss.ts";
import { given, numberOf, servePeer, type Applier } from "./applier.ts";

const PAUSE_MS = 20;

await servePeer(async (applier) => {
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
  if (expireInSeconds !== undefined) {
    // Without the policy it would become the one that keeps nobody away.
    await boss.updateQueue(PGBOSS_QUEUE, { name: PGBOSS_QUEUE, policy: "singleton", expireInSeconds });
  }
  const stopping = new AbortController();
  const taking = takeJobs({ boss, applier, batchSize: concurrency, signal: stopping.signal });
  return async () => {
    stopping.abort();
    await taking;
    await boss.stop({ graceful: false });
  };
});

async function takeJobs(options: {
  readonly boss: PgBoss;
  readonly applier: Applier;
  readonly batchSize: number;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { boss, applier, batchSize, signal } = options;
  while (!signal.aborted) {
    try {
      const jobs = await boss.fetch<EventJob>(PGBOSS_QUEUE, { batchSize });
      if (jobs.length === 0) await pause(PAUSE_MS);
      else await work(boss, { applier, jobs });
    } catch (error) {
      process.stderr.write(`${String(error)}\n`);
      await pause(PAUSE_MS);
    }
  }
}

async function work(
  boss: PgBoss,
  { applier, jobs }: { applier: Applier; jobs: readonly PgBoss.Job<EventJob>[] },
): Promise<void> {
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
