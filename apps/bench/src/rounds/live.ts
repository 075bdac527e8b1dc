import { createOrderStore, migrate, type AuditFinding, type OrderStore } from "@junban/order-store";
import { hotStory, trafficOf } from "@junban/order-stories";
import { startProcess, type ProcessTree, type Sandbox } from "@junban/sandbox";
import { unlessAborted } from "@junban/trial";
import type { Carrier, Contender, Ground } from "../contenders/contender.ts";
import { readDecisions, type Decision } from "./decisions.ts";
import { cpuSecondsOf, residentBytesOf, type CpuSeconds } from "./process-figures.ts";
import { workedOff } from "./working-off.ts";

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
  /** Events of other orders that are worked off before anything is measured, so that no contender pays for compiling. Default 1,000 a portion. */
  readonly warmUp?: number;
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

/** The worker's defaults, for everybody: 128 slots for each of four families, and the connections of its pool. */
const CONCURRENCY = 512;
const POOL_SIZE = 8;
/** As `npm run worker` starts the worker, and for everybody: room for short-lived objects. */
const NODE_FLAGS = ["--max-semi-space-size=64"];
const FAMILIES = 4;

const STARTED_WITHIN_MS = 60_000;
const WARM_WITHIN_MS = 120_000;
/** Portions for those who get through them, and the time after which none is added. */
const WARM_PORTIONS = 12;
const WARM_MORE_MS = 3_000;
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
    concurrency: CONCURRENCY,
    poolSize: POOL_SIZE,
  };
  const carrier = await contender.open(ground);
  const live = new RunningContender({ contender, ground, carrier, sandbox });
  try {
    const { processes = 1, groundOfProcesses = (same) => same } = options;
    const env = { ...environmentOf(groundOfProcesses(ground)), ...contender.env, ...options.env };
    await live.start({ processes, env, signal });
    await warm(live, { events: options.warmUp ?? 1_000, signal });
    return live;
  } catch (error) {
    await live.stop();
    throw error;
  }
}

/**
 * Some orders with many events at once and many with few, so that both ways through a contender get warm. Who is done with them
 * soon gets more, in equal portions, for the compiler to settle: a process that runs for days pays for that once.
 */
async function warm(live: Live, { events, signal }: { events: number; signal: AbortSignal }): Promise<void> {
  if (events === 0) return;
  const untilMs = performance.now() + WARM_MORE_MS;
  for (let portion = 0; portion < WARM_PORTIONS; portion += 1) {
    if (portion > 0 && performance.now() > untilMs) return;
    const lcidPrefix = `WARM-${portion}-`;
    const spread = trafficOf({ orders: 200, events, skew: "zipf", exponent: 0.7, seed: 1, lcidPrefix });
    const hot = hotStory({ lcid: `${lcidPrefix}HOT`, events, seed: 1 });
    await live.carrier.publish(portion % 2 === 0 ? spread : hot);
    const { left } = await workedOff(live, { withinMs: WARM_WITHIN_MS, signal });
    if (left > 0) {
      throw new Error(`${live.contender.name} left ${left} of ${events} events that were to warm it up`);
    }
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
function environmentOf({ databaseUrl, redisUrl, prefix, concurrency, poolSize }: Ground): NodeJS.ProcessEnv {
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
