import { createOrderStore, migrate, type AuditFinding, type OrderStore } from "@junban/order-store";
import { startProcess, type ProcessTree, type Sandbox } from "@junban/sandbox";
import { unlessAborted } from "@junban/trial";
import type { Carrier, Contender, Ground } from "../contenders/contender.ts";
import { FAMILIES, NODE_FLAGS, POOL_SIZE, SLOTS, WARMING } from "./alike.ts";
import { readDecisions, type Decision } from "./decisions.ts";
import { cpuSecondsOf, residentBytesOf, type CpuSeconds } from "./process-figures.ts";
import { warm } from "./warming.ts";

export type { Decision } from "./decisions.ts";
export { judge } from "./judging.ts";

export interface LiveOptions {
  readonly sandbox: Sandbox;
  /** Part of every Redis key; another one each round. */
  readonly prefix: string;
  readonly processes?: number;
  /** Set for the process in addition to the contender's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** The ground as the processes, and they alone, are told of it; for a proxy in front of a server. */
  readonly groundOfProcesses?: (ground: Ground) => Ground;
  /** A database that already holds something; a fresh, migrated one by default. */
  readonly databaseUrl?: string;
  /** Events of other orders, a portion, that are worked off before anything is measured, so that no contender pays for compiling. Default 1,000. */
  readonly warmUp?: number;
  /** The most portions for whoever gets through them soon (default 12). With 1 everybody gets exactly `warmUp` events. */
  readonly warmPortions?: number;
  readonly signal?: AbortSignal;
}

/** A contender at work on fresh places: its processes, and both ends of its queue. */
export interface Live {
  readonly contender: Contender;
  readonly ground: Ground;
  readonly carrier: Carrier;
  readonly trees: readonly ProcessTree[];
  /** SIGSTOP to its processes: what is published now is a backlog when they go on. */
  freeze(): void;
  /** SIGCONT; answers `performance.now()` of that moment. */
  letGo(): number;
  /** Rows of `order_events` for these orders, in order of `seq`. */
  decisions(lcids: readonly string[]): Promise<readonly Decision[]>;
  /** In what the rows of these orders differ from their own history. */
  audit(lcids: readonly string[]): AsyncIterable<AuditFinding>;
  /** CPU seconds since its start, of its processes, of Redis and of Postgres; null where the system does not tell. */
  cpuSeconds(): Promise<CpuSeconds | null>;
  residentBytes(): Promise<number>;
  /** Ends the processes and closes both ends. May be called twice. */
  stop(): Promise<void>;
}

const STARTED_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 3_000;

/** Starts the contender on fresh places and warms it up. */
export async function startLive(contender: Contender, options: LiveOptions): Promise<Live> {
  const { sandbox, prefix, signal = new AbortController().signal } = options;
  signal.throwIfAborted();
  const databaseUrl = options.databaseUrl ?? (await sandbox.postgres.createDatabase());
  if (options.databaseUrl === undefined) await migrate({ databaseUrl });
  const ground: Ground = {
    databaseUrl,
    redisUrl: sandbox.redis.url,
    prefix,
    concurrency: SLOTS,
    poolSize: POOL_SIZE,
  };
  const carrier = await contender.open(ground);
  const live = new RunningContender({ contender, ground, carrier, sandbox });
  try {
    const { processes = 1, groundOfProcesses = (same) => same } = options;
    const env = { ...environmentOf(groundOfProcesses(ground)), ...contender.env, ...options.env };
    await live.start({ processes, env, signal });
    const { warmUp = WARMING.events, warmPortions = WARMING.portions } = options;
    await warm(live, { events: warmUp, portions: warmPortions, signal });
    return live;
  } catch (error) {
    await live.stop();
    throw error;
  }
}

class RunningContender implements Live {
  readonly contender: Contender;
  readonly ground: Ground;
  readonly carrier: Carrier;
  readonly #sandbox: Sandbox;
  readonly #store: OrderStore;
  #trees: readonly ProcessTree[] = [];
  #stopping: Promise<void> | undefined;

  constructor({
    contender,
    ground,
    carrier,
    sandbox,
  }: Pick<Live, "contender" | "ground" | "carrier"> & { sandbox: Sandbox }) {
    this.contender = contender;
    this.ground = ground;
    this.carrier = carrier;
    this.#sandbox = sandbox;
    // It only reads, and some of what it reads is long.
    this.#store = createOrderStore({
      databaseUrl: ground.databaseUrl,
      worker: "bench",
      statementTimeoutMs: 120_000,
      idleTransactionTimeoutMs: 120_000,
    });
  }

  get trees(): readonly ProcessTree[] {
    return this.#trees;
  }

  async start(options: { processes: number; env: NodeJS.ProcessEnv; signal: AbortSignal }): Promise<void> {
    const { script, startedLine } = this.contender;
    for (let started = 0; started < options.processes; started += 1) {
      const tree = await startProcess({
        command: process.execPath,
        args: [...NODE_FLAGS, script],
        env: options.env,
      });
      this.#trees = [...this.#trees, tree];
    }
    const lines = this.#trees.map(async (tree) =>
      tree.waitForLine(startedLine, { withinMs: STARTED_WITHIN_MS }),
    );
    await unlessAborted(Promise.all(lines), options.signal);
  }

  freeze(): void {
    for (const tree of this.#trees) tree.signal("SIGSTOP");
  }

  letGo(): number {
    const atMs = performance.now();
    for (const tree of this.#trees) tree.signal("SIGCONT");
    return atMs;
  }

  async decisions(lcids: readonly string[]): Promise<readonly Decision[]> {
    return readDecisions(this.#store, lcids);
  }

  audit(lcids: readonly string[]): AsyncIterable<AuditFinding> {
    return this.#store.audit(lcids);
  }

  async cpuSeconds(): Promise<CpuSeconds | null> {
    const { postgres, redis } = this.#sandbox;
    return cpuSecondsOf({
      node: this.#trees.map(({ pid }) => pid),
      redis: redis.pid,
      postgres: postgres.pid,
    });
  }

  async residentBytes(): Promise<number> {
    return residentBytesOf(this.#trees.map(({ pid }) => pid));
  }

  async stop(): Promise<void> {
    this.#stopping ??= this.#end();
    await this.#stopping;
  }

  async #end(): Promise<void> {
    await Promise.all(this.#trees.map(async (tree) => tree.stop({ graceMs: STOP_WITHIN_MS })));
    await Promise.all([this.carrier.close(), this.#store.close()]);
  }
}

/** How a process learns of its ground; `groundOf` in processes/ground.ts reads it. */
export function environmentOf({
  databaseUrl,
  redisUrl,
  prefix,
  concurrency,
  poolSize,
}: Ground): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    NODE_ENV: "production",
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    JUNBAN_PREFIX: prefix,
    JUNBAN_CONCURRENCY: String(concurrency / FAMILIES),
    JUNBAN_PG_POOL: String(poolSize),
    JUNBAN_HTTP_PORT: "0",
    BENCH_CONCURRENCY: String(concurrency),
  };
}
