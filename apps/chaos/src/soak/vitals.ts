import { readFile } from "node:fs/promises";
import { postgresFigures } from "@junban/sandbox";
import type { Stage } from "../stage.ts";

/** One look at everything that could grow for ever. */
export interface Vitals {
  /** Since the start, in seconds. */
  readonly atSeconds: number;
  /** Events that were acknowledged so far. */
  readonly published: number;
  /** Resident memory of the worker that lives through it all, in bytes; null where the system does not tell. */
  readonly workerBytes: number | null;
  /** Used memory of Redis, in bytes. */
  readonly redisBytes: number;
  readonly redisClients: number;
  /** Keys of lanes, whichever kind. */
  readonly laneKeys: number;
  /** Keys of queues, whichever kind. */
  readonly queueKeys: number;
  readonly postgresSessions: number;
  /** Dead versions among all versions of rows, 0…1. */
  readonly deadShare: number;
  /** Bytes of tables and indexes for each live row; null while there are too few for the empty tables not to count. */
  readonly bytesPerRow: number | null;
  readonly multixacts: number;
}

const LEAST_ROWS = 2_000;

/** Null when a server could not be asked, as happens while a fault has it. */
export async function takeVitals(stage: Stage, startedMs: number): Promise<Vitals | null> {
  try {
    const [memory, clients, keys, postgres, workerBytes] = await Promise.all([
      stage.redis.info("memory"),
      stage.redis.info("clients"),
      countKeys(stage),
      postgresFigures(stage.databaseUrl),
      residentBytes(stage.spared?.pid),
    ]);
    const { sessions, liveRows, deadRows, bytes, multixacts } = postgres;
    return {
      atSeconds: (performance.now() - startedMs) / 1_000,
      published: stage.flow.published,
      workerBytes,
      redisBytes: figureIn(memory, "used_memory"),
      redisClients: figureIn(clients, "connected_clients"),
      ...keys,
      postgresSessions: sessions,
      deadShare: deadRows / Math.max(1, liveRows + deadRows),
      bytesPerRow: liveRows < LEAST_ROWS ? null : bytes / liveRows,
      multixacts,
    };
  } catch {
    return null;
  }
}

async function countKeys({
  redis,
  prefix,
}: Pick<Stage, "redis" | "prefix">): Promise<Pick<Vitals, "laneKeys" | "queueKeys">> {
  let laneKeys = 0;
  let queueKeys = 0;
  for await (const page of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    for (const key of page as string[]) {
      // Keys of queues begin with the queue's name in braces, those of lanes with their kind.
      if (key.startsWith(`${prefix}:{`)) queueKeys += 1;
      else laneKeys += 1;
    }
  }
  return { laneKeys, queueKeys };
}

function figureIn(info: string, name: string): number {
  const found = new RegExp(`^${name}:(\\d+)`, "mu").exec(info);
  if (found === null) throw new TypeError(`Redis does not tell ${name}`);
  return Number(found[1]);
}

async function residentBytes(pid: number | undefined): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const found = /^VmRSS:\s+(\d+) kB/mu.exec(status);
  return found === null ? null : Number(found[1]) * 1_024;
}
