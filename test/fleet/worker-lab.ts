import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPublisher } from "@junban/event-queues";
import { startProcess } from "@junban/sandbox";
import type { ProcessExit, ProcessTree } from "@junban/sandbox";
import pg from "pg";
import { afterAll, expect, onTestFinished } from "vitest";
import { freshDatabase, freshRedis } from "../support/index.ts";

/** Where one fleet lives: its database, its Redis and its key prefix. */
export interface Place {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly prefix: string;
}

export async function freshPlace(): Promise<Place> {
  const { url: redisUrl, prefix } = freshRedis();
  return { databaseUrl: await freshDatabase(), redisUrl, prefix };
}

export interface WorkerProcess {
  readonly tree: ProcessTree;
  readonly exited: Promise<ProcessExit>;
  get(path: string): Promise<{ status: number; text: string }>;
}

export type Environment = Readonly<Record<string, string>>;

/** With a lease this short, what waits for one to lapse is a matter of seconds. */
export const SHORT_LEASE: Environment = {
  JUNBAN_LEASE_MS: "2000",
  JUNBAN_STATEMENT_TIMEOUT_MS: "1500",
  JUNBAN_LOCK_TIMEOUT_MS: "1000",
  JUNBAN_IDLE_TX_TIMEOUT_MS: "1500",
  JUNBAN_WAIT_MS: "300",
  JUNBAN_POLL_MS: "100",
};

/** The worker's own program, and the same with decisions that misbehave. */
const PROGRAMS = {
  main: fileURLToPath(new URL("../../apps/worker/src/main.ts", import.meta.url)),
  seams: fileURLToPath(new URL("worker-seams.process.ts", import.meta.url)),
  canaries: fileURLToPath(new URL("worker-canaries.process.ts", import.meta.url)),
};
/** One of these, or the same program of another build. */
type Program = keyof typeof PROGRAMS | { readonly folder: string };

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Starts the worker's own program, without waiting for anything. It ends with the test at the latest. */
export async function launchWorker(env: Environment, program: Program = "main"): Promise<ProcessTree> {
  const [file, cwd] =
    typeof program === "string"
      ? [PROGRAMS[program], ROOT]
      : [join(program.folder, "apps/worker/src/main.ts"), program.folder];
  const tree = await startProcess({
    command: process.execPath,
    args: ["--import", "tsx", "--conditions", "@junban/source", file],
    env: { PATH: process.env["PATH"], JUNBAN_HTTP_PORT: "0", JUNBAN_RELAY: "off", ...env },
    cwd,
  });
  onTestFinished(async () => {
    await tree.stop({ signal: "SIGKILL" });
  });
  return tree;
}

export function environmentOf(place: Place): Environment {
  return { DATABASE_URL: place.databaseUrl, REDIS_URL: place.redisUrl, JUNBAN_PREFIX: place.prefix };
}

/** Starts a worker and waits until it serves. */
export async function startWorker(
  place: Place,
  env: Environment = {},
  program: Program = "main",
): Promise<WorkerProcess> {
  const tree = await launchWorker({ ...environmentOf(place), ...env }, program);
  const line = await tree.waitForLine("the worker serves", { withinMs: 60_000 });
  const { httpPort } = JSON.parse(line) as { httpPort: number };
  return {
    tree,
    exited: tree.exited,
    get: async (path) => {
      const response = await fetch(`http://127.0.0.1:${httpPort}${path}`);
      return { status: response.status, text: await response.text() };
    },
  };
}

export type Envelope = { readonly id: string; readonly lcid: string; readonly [field: string]: unknown };

/** A placed order and then authorizations, each of which applies whatever came before: `<lcid>-0`, `<lcid>-1` … */
export function eventsOf(lcid: string, count: number): Envelope[] {
  return Array.from({ length: count }, (_, number) =>
    number === 0 ? placed(lcid) : authorized(lcid, { number }),
  );
}

export function placed(lcid: string): Envelope {
  const lines = [{ lineId: "L1", sku: "S1", quantity: 2, unitAmount: 500 }];
  return eventOf(lcid, 0, {
    type: "order.placed",
    data: { currency: "JPY", adjustment: 0, shipGate: "captured", lines },
  });
}

export function authorized(
  lcid: string,
  { number, ref = `a-${number}` }: { number: number; ref?: string },
): Envelope {
  return eventOf(lcid, number, {
    type: "payment.authorized",
    data: { authorizationId: ref, amount: 10, currency: "JPY" },
  });
}

export function eventOf(lcid: string, number: number, content: { type: string; data: object }): Envelope {
  return { specversion: "1.0", id: `${lcid}-${number}`, source: "/lab", lcid, ...content };
}

export async function publish(place: Place, events: readonly Envelope[]): Promise<void> {
  const publisher = createPublisher({ redis: place.redisUrl, prefix: place.prefix, timeoutMs: 30_000 });
  try {
    for (const result of await publisher.publishAll(events)) {
      if (result.kind === "refused") throw result.error;
    }
  } finally {
    await publisher.close();
  }
}

export interface Row {
  readonly lcid: string;
  readonly id: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly worker: string;
}

const pools = new Map<string, pg.Pool>();

/** A connection of the test's own, for looking at rows and for holding them. */
export function poolOf(place: Place): pg.Pool {
  const known = pools.get(place.databaseUrl);
  if (known !== undefined) return known;
  const pool = new pg.Pool({ connectionString: place.databaseUrl, max: 3 });
  // A server that is restarted on purpose ends these connections too.
  pool.on("error", () => {});
  pools.set(place.databaseUrl, pool);
  return pool;
}

afterAll(async () => {
  for (const pool of pools.values()) await pool.end();
  pools.clear();
});

/** What was decided, in the order of first decisions. */
export async function rowsOf(place: Place): Promise<Row[]> {
  const { rows } = await poolOf(place).query<Row>(
    "SELECT lcid, event_id AS id, outcome, reason, worker FROM order_events ORDER BY seq",
  );
  return rows;
}

export async function idsOf(place: Place, lcid: string): Promise<string[]> {
  const rows = await rowsOf(place);
  return rows.filter((row) => row.lcid === lcid).map(({ id }) => id);
}

/** Each order's events were first decided in the order in which `eventsOf` lists them, and all of them were. */
export async function expectPublishOrder(
  place: Place,
  lcids: readonly string[],
  count: number,
): Promise<void> {
  const rows = await rowsOf(place);
  for (const lcid of lcids) {
    const decided = rows.filter((row) => row.lcid === lcid).map(({ id }) => id);
    expect(decided).toEqual(eventsOf(lcid, count).map(({ id }) => id));
  }
}

/** Locks an order's row as any other transaction would, until the answer is called. */
export async function holdOrder(place: Place, lcid: string): Promise<() => Promise<void>> {
  const client = await poolOf(place).connect();
  await client.query("BEGIN");
  await client.query("SELECT FROM orders WHERE lcid = $1 FOR NO KEY UPDATE", [lcid]);
  return async () => {
    await client.query("ROLLBACK");
    client.release();
  };
}

/** How many sessions of other processes wait for a lock in this database. */
export async function waitingForLocks(place: Place): Promise<number> {
  const { rows } = await poolOf(place).query<{ waiting: number }>(
    `SELECT count(*)::int AS waiting FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.waiting ?? 0;
}

/** An lcid that no other test uses. */
export function freshLcid(): string {
  return `order-${randomBytes(4).toString("hex")}`;
}
