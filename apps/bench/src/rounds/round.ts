import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { createPublisher, createQueueReader, type QueueReader } from "@junban/event-queues";
import { createOrderStore, migrate } from "@junban/order-store";
import type { EventEnvelope } from "@junban/orders";
import { startProcess, type ProcessTree, type Sandbox } from "@junban/sandbox";
import type { Contender } from "./contenders.ts";

export interface RoundResult {
  readonly eventsPerSecond: number;
  /** CPU seconds of the contender's process per 1,000 events; null where the system does not tell. */
  readonly cpuSecondsPer1000: number | null;
  /** Events acknowledged to the publisher that have no row; null for a contender that applies nothing. */
  readonly lost: number | null;
  /** Neighbours of one order decided against publish order; null for a contender that applies nothing. */
  readonly inversions: number | null;
}

const LOOK_EVERY_MS = 10;
const DRAIN_WITHIN_MS = 300_000;
const PUBLISH_AT_ONCE = 2_000;

/** Publishes all events, starts the contender, and measures from its first job to an empty backlog. Fresh database, own prefix. */
export async function runRound(
  sandbox: Sandbox,
  contender: Contender,
  { events, prefix }: { events: readonly EventEnvelope[]; prefix: string },
): Promise<RoundResult> {
  const databaseUrl = await sandbox.postgres.createDatabase();
  await migrate({ databaseUrl });
  const redisUrl = sandbox.redis.url;
  await publishBacklog({ redisUrl, prefix }, events);
  const queues = createQueueReader({ redis: redisUrl, prefix });
  const tree = await startContender(contender, { databaseUrl, redisUrl, prefix });
  try {
    await tree.waitForLine(contender.startedLine, { withinMs: 60_000 });
    const seconds = await drained(queues, events.length);
    const cpuSeconds = await cpuSecondsOf(tree.pid);
    const checked = contender.applies ? await check(databaseUrl, events) : { lost: null, inversions: null };
    return {
      eventsPerSecond: events.length / seconds,
      cpuSecondsPer1000: cpuSeconds === null ? null : (cpuSeconds / events.length) * 1_000,
      ...checked,
    };
  } finally {
    await tree.stop();
    await queues.close();
  }
}

async function publishBacklog(
  { redisUrl, prefix }: { redisUrl: string; prefix: string },
  events: readonly EventEnvelope[],
): Promise<void> {
  const publisher = createPublisher({ redis: redisUrl, prefix, laneCap: events.length });
  for (let start = 0; start < events.length; start += PUBLISH_AT_ONCE) {
    const results = await publisher.publishAll(events.slice(start, start + PUBLISH_AT_ONCE));
    const refused = results.find((result) => result.kind === "refused");
    if (refused !== undefined) throw refused.error;
  }
  await publisher.close();
}

function startContender(
  { script, env }: Contender,
  { databaseUrl, redisUrl, prefix }: { databaseUrl: string; redisUrl: string; prefix: string },
): Promise<ProcessTree> {
  return startProcess({
    command: process.execPath,
    args: [script],
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      JUNBAN_PREFIX: prefix,
      JUNBAN_HTTP_PORT: "0",
      ...env,
    },
  });
}

/** Seconds from the first look that finds jobs taken to the first that finds none left. */
async function drained(queues: QueueReader, total: number): Promise<number> {
  const untilMs = performance.now() + DRAIN_WITHIN_MS;
  let startedMs = performance.now();
  let hasStarted = false;
  for (;;) {
    const counts = Object.values(await queues.counts());
    const nowMs = performance.now();
    const waiting = counts.reduce((sum, family) => sum + family.waiting + family.prioritized, 0);
    const left = counts.reduce((sum, family) => sum + family.active + family.delayed, waiting);
    if (!hasStarted && waiting === total) startedMs = nowMs;
    else hasStarted = true;
    if (left === 0) return (nowMs - startedMs) / 1_000;
    if (nowMs > untilMs) {
      throw new Error(`${left} of ${total} jobs were left after ${DRAIN_WITHIN_MS / 1_000} s`);
    }
    await pause(LOOK_EVERY_MS);
  }
}

async function check(
  databaseUrl: string,
  events: readonly EventEnvelope[],
): Promise<{ lost: number; inversions: number }> {
  const store = createOrderStore({ databaseUrl, poolSize: 1, worker: "bench" });
  try {
    let lost = 0;
    let inversions = 0;
    for (const [lcid, inOrder] of byOrder(events)) {
      const seqs = new Map(
        (await store.readHistory(lcid)).map(({ source, id, seq }) => [`${source}\0${id}`, seq]),
      );
      let last = 0;
      for (const { source, id } of inOrder) {
        const seq = seqs.get(`${source}\0${id}`);
        if (seq === undefined) lost += 1;
        else if (seq < last) inversions += 1;
        last = Math.max(last, seq ?? 0);
      }
    }
    return { lost, inversions };
  } finally {
    await store.close();
  }
}

function byOrder(events: readonly EventEnvelope[]): ReadonlyMap<string, readonly EventEnvelope[]> {
  const orders = new Map<string, EventEnvelope[]>();
  for (const event of events) {
    const others = orders.get(event.lcid);
    if (others === undefined) orders.set(event.lcid, [event]);
    else others.push(event);
  }
  return orders;
}

/** User and system time of a process, where the system tells it (Linux). */
async function cpuSecondsOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (stat === null) return null;
  // The command's name, in parentheses, may itself hold spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const TICKS_PER_SECOND = 100;
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
