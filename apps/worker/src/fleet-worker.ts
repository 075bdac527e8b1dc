import { setTimeout as sleep } from "node:timers/promises";
import type { OrderStore } from "@junban/order-store";
import type { Family } from "@junban/orders";
import { Registry } from "prom-client";
import { CommitGroups } from "./commit-groups.ts";
import { FleetLog } from "./fleet-log.ts";
import { Health } from "./health.ts";
import type { Readiness } from "./health.ts";
import { JobLife } from "./job.ts";
import { LaneServer } from "./lane-server.ts";
import { LocalSeats } from "./local-seats.ts";
import { FleetMetrics } from "./metrics.ts";
import { PassingTrouble } from "./passing-trouble.ts";
import type {
  Committer,
  Consumption,
  FleetLogger,
  LaneEntrance,
  LaneUpkeep,
  OrderUpkeep,
  StartConsuming,
} from "./ports.ts";
import { Sweeper } from "./sweeper.ts";

/** The part of the configuration that the fleet process itself reads. */
export interface FleetConfig {
  readonly leaseMs: number;
  readonly laneBatch: number;
  readonly quantumMs: number;
  readonly waitMs: number;
  readonly commitLanes: number;
  readonly commitParallel: number;
  readonly crashAlone: number;
  readonly crashGiveUp: number;
}

export interface FleetWorkerOptions {
  readonly config: FleetConfig;
  readonly lanes: LaneEntrance & LaneUpkeep;
  /** Lanes of another prefix, for what must happen once in the whole fleet. */
  readonly maintenance: Pick<LaneUpkeep, "enter">;
  readonly store: Committer & OrderUpkeep & Pick<OrderStore, "ping" | "poolInUse">;
  readonly consume: StartConsuming;
  /** Resolves when Redis answers. */
  readonly probeRedis: () => Promise<void>;
  /** Those of this process's queues that somebody paused. */
  readonly pausedQueues: () => Promise<readonly Family[]>;
  /** Whether the memory policy of Redis may drop keys; default never. */
  readonly mayEvict?: () => boolean;
  readonly logger: FleetLogger;
  /** Where this worker's metrics live; default a registry of its own. */
  readonly registry?: Registry;
  /** Whether this process takes part in sweeping; default true. */
  readonly sweep?: boolean;
  /** How long an outcome waits in Redis for its job, milliseconds; default one hour. */
  readonly keepOutcomesMs?: number;
}

/** A running fleet process, without its connections: those belong to whoever opened them. */
export interface FleetWorker {
  ready(): Promise<Readiness>;
  /** Prometheus text. */
  metrics(): Promise<string>;
  leaseLost(why: "taken" | "deadline"): void;
  activeJobs(): number;
  /** True while this process is the one that sweeps. */
  sweeps(): boolean;
  /**
   * Stops fetching; waiting jobs step back at once; turns finish the transaction they are in, hand off and leave. Resolves
   * when all of it is over, and at the latest `deadlineMs` from now. May be called twice.
   */
  stop(options: { readonly deadlineMs: number }): Promise<void>;
}

/**
 * Most events in one transaction: room for two hot lanes, and where batches are small, for many lanes all the same; well below
 * the statement limit.
 */
const COMMIT_EVENTS = 512;
const BATCHES_PER_COMMIT = 2;
const KEEP_OUTCOMES_MS = 3_600_000;
/** How often, at most, one timer looks for jobs that sit at a lane which stands still. */
const SHORTEST_LOOK_MS = 250;
/** An idle consumer gives a sign of life every five seconds or so. */
const SHORTEST_STUCK_MS = 20_000;

/**
 * Starts one fleet process over the given ports: it fetches jobs at once, serves their lanes, and takes its part in the sweep.
 * Nothing here opens or closes a connection.
 */
export function createFleetWorker(options: FleetWorkerOptions): FleetWorker {
  return new Fleet(options);
}

class Fleet implements FleetWorker {
  readonly #seats: LocalSeats;
  readonly #groups: CommitGroups;
  readonly #trouble: PassingTrouble;
  readonly #server: LaneServer;
  readonly #jobs: JobLife;
  readonly #sweeper: Sweeper | null;
  readonly #metrics: FleetMetrics;
  readonly #health: Health;
  readonly #consumption: Consumption;
  readonly #stillTimer: NodeJS.Timeout;
  #stopping: Promise<void> | null = null;

  constructor(options: FleetWorkerOptions) {
    const { config, lanes, store, logger, probeRedis } = options;
    this.#metrics = new FleetMetrics({
      poolInUse: () => store.poolInUse(),
      activeJobs: () => this.activeJobs(),
      turns: () => this.#server.turns,
      sweeps: () => this.sweeps(),
      mayEvict: options.mayEvict ?? (() => false),
      isRefused: () => this.#consumption.refusal() !== null,
      registry: options.registry ?? new Registry(),
    });
    this.#seats = new LocalSeats({ waitMs: config.waitMs });
    this.#groups = new CommitGroups({
      store,
      commitLanes: config.commitLanes,
      commitParallel: config.commitParallel,
      commitEvents: Math.max(COMMIT_EVENTS, config.laneBatch * BATCHES_PER_COMMIT),
      onGroup: (groupLanes, events) => this.#metrics.group(groupLanes, events),
    });
    this.#trouble = new PassingTrouble({
      waitMs: config.waitMs,
      leaseMs: config.leaseMs,
      probePostgres: () => store.ping(),
      probeRedis,
      logger,
    });
    const log = new FleetLog({ logger });
    this.#server = new LaneServer({
      seats: this.#seats,
      groups: this.#groups,
      trouble: this.#trouble,
      quantumMs: config.quantumMs,
      crashAlone: config.crashAlone,
      crashGiveUp: config.crashGiveUp,
      laneBatch: config.laneBatch,
      observers: [this.#metrics, log, this.#trouble],
    });
    this.#jobs = new JobLife({
      lanes,
      seats: this.#seats,
      server: this.#server,
      trouble: this.#trouble,
      observer: this.#metrics,
    });
    this.#health = this.#createHealth(options);
    this.#sweeper = options.sweep === false ? null : this.#createSweeper(options);
    this.#consumption = options.consume({
      process: (job) => this.#jobs.process(job),
      onError: (error) => void this.#trouble.consumptionTrouble(error),
      onUnreadable: () => this.#metrics.unusable(),
      onOthersWaiting: () => this.#server.expectOthers(),
    });
    this.#trouble.steer(this.#consumption);
    this.#stillTimer = setInterval(
      () => this.#seats.freeStill(),
      Math.max(SHORTEST_LOOK_MS, config.waitMs / 4),
    ).unref();
    this.#sweeper?.start();
  }

  ready(): Promise<Readiness> {
    return this.#health.ready();
  }

  metrics(): Promise<string> {
    return this.#metrics.text();
  }

  leaseLost(why: "taken" | "deadline"): void {
    this.#metrics.leaseLost(why);
  }

  activeJobs(): number {
    return this.#consumption.activeCount();
  }

  sweeps(): boolean {
    return this.#sweeper?.leads ?? false;
  }

  stop({ deadlineMs }: { readonly deadlineMs: number }): Promise<void> {
    this.#stopping ??= this.#stop(deadlineMs);
    return this.#stopping;
  }

  async #stop(deadlineMs: number): Promise<void> {
    // Whoever only waits goes first and at once; then nothing new begins; what is in a transaction ends by itself.
    clearInterval(this.#stillTimer);
    this.#jobs.stop();
    this.#seats.stepBackAll();
    this.#server.stop();
    this.#groups.close();
    const given = new AbortController();
    const late = sleep(deadlineMs, undefined, { signal: given.signal }).catch(() => undefined);
    const over = Promise.allSettled([this.#consumption.close({ deadlineMs }), this.#sweeper?.stop()]);
    await Promise.race([over, late]);
    given.abort();
    this.#trouble.stop();
  }

  #createHealth({ store, pausedQueues, mayEvict, config }: FleetWorkerOptions): Health {
    return new Health({
      pausedQueues,
      probePostgres: () => store.ping(),
      mayEvict: mayEvict ?? (() => false),
      postgresAway: () => this.#trouble.postgresAway,
      stopping: () => this.#stopping !== null,
      refusal: () => this.#consumption.refusal(),
      quietMs: () => this.#quietMs(),
      failingMs: () => this.#trouble.failingMs,
      stuckMs: Math.max(SHORTEST_STUCK_MS, 3 * config.leaseMs),
    });
  }

  /** Slots that are all filled by one long turn fetch nothing and are none the less at work. */
  #quietMs(): number {
    const quietMs = this.#consumption.lastActivityMs();
    if (this.activeJobs() === 0) return quietMs;
    return Math.min(quietMs, performance.now() - this.#server.lastProgressMs);
  }

  #createSweeper({ lanes, maintenance, store, config, logger, keepOutcomesMs }: FleetWorkerOptions): Sweeper {
    return new Sweeper({
      lanes,
      maintenance,
      store,
      server: this.#server,
      trouble: this.#trouble,
      leaseMs: config.leaseMs,
      keepOutcomesMs: keepOutcomesMs ?? KEEP_OUTCOMES_MS,
      logger,
      onRound: (report) => this.#metrics.swept(report),
    });
  }
}
