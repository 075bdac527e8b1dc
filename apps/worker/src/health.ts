import type { QueueUnavailableCode, RedisFitness } from "@junban/event-queues";
import type { Family } from "@junban/orders";
import { answersWithin } from "./outage.ts";

export interface Readiness {
  readonly ok: boolean;
  readonly detail: {
    readonly redis: RedisFitness;
    readonly postgres: "answers" | "silent";
    /**
     * `paused`: fetching waits, for Postgres or because somebody paused queues; `refused`: Redis answers and lets nothing be
     * fetched; `stuck`: nothing is fetched, or nothing that is fetched gets its row.
     */
    readonly consumption: "moving" | "paused" | "refused" | "stuck" | "stopping";
    readonly why?: StillnessCause;
    readonly pausedQueues?: readonly Family[];
  };
}

/** Why consumption is paused, refused or stuck. */
export type StillnessCause =
  | QueueUnavailableCode
  | "POSTGRES_AWAY"
  | "QUEUES_PAUSED"
  | "NOTHING_FETCHED"
  | "NOTHING_SETTLED";

export interface HealthOptions {
  /** Asks Redis which queues somebody paused; that it answers is half of what is asked. */
  readonly pausedQueues: () => Promise<readonly Family[]>;
  readonly probePostgres: () => Promise<void>;
  /** Whether the memory policy of Redis may drop keys. */
  readonly mayEvict: () => boolean;
  readonly postgresAway: () => boolean;
  readonly stopping: () => boolean;
  /** Why Redis refuses to hand out jobs; null when it does not. */
  readonly refusal: () => QueueUnavailableCode | null;
  /** Milliseconds since consumption last gave a sign of life; an idle one gives one every few seconds too. */
  readonly quietMs: () => number;
  /** Milliseconds for which every batch has failed; 0 when the latest did not, or none was tried lately. */
  readonly failingMs: () => number;
  /** So long a silence, or nothing but failure, means stuck, milliseconds. */
  readonly stuckMs: number;
  /** Longest wait for each service, milliseconds; default 2000. */
  readonly limitMs?: number;
  /** How long an answer is good for, milliseconds; default 500. Probes of many callers then cost as much as one. */
  readonly goodForMs?: number;
}

/**
 * Whether this process really does its work: both services answer it, and jobs move, or none is there. A process that is
 * connected but fetches nothing, or settles nothing of what it fetches, is not ready, however well it feels.
 */
export class Health {
  readonly #options: HealthOptions;
  #latest: Promise<Readiness> | null = null;
  #latestAtMs = 0;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  ready(): Promise<Readiness> {
    const nowMs = performance.now();
    if (this.#latest === null || nowMs - this.#latestAtMs > (this.#options.goodForMs ?? 500)) {
      this.#latestAtMs = nowMs;
      this.#latest = this.#look();
    }
    return this.#latest;
  }

  async #look(): Promise<Readiness> {
    const { pausedQueues, probePostgres, mayEvict, limitMs = 2000 } = this.#options;
    let paused: readonly Family[] = [];
    const askRedis = async (): Promise<void> => {
      paused = await pausedQueues();
    };
    const [redisAnswers, postgresAnswers] = await Promise.all([
      answersWithin(askRedis, limitMs),
      answersWithin(probePostgres, limitMs),
    ]);
    const fitness = mayEvict() ? "may-evict" : "answers";
    const redis = redisAnswers ? fitness : "silent";
    const postgres = postgresAnswers ? "answers" : "silent";
    const consumption = this.#consumption(paused);
    return {
      ok: redis === "answers" && postgres === "answers" && consumption.consumption === "moving",
      detail: { redis, postgres, ...consumption },
    };
  }

  #consumption(
    pausedQueues: readonly Family[],
  ): Pick<Readiness["detail"], "consumption" | "why" | "pausedQueues"> {
    const { stopping, postgresAway, refusal, quietMs, failingMs, stuckMs } = this.#options;
    if (stopping()) return { consumption: "stopping" };
    if (postgresAway()) return { consumption: "paused", why: "POSTGRES_AWAY" };
    const refused = refusal();
    if (refused !== null) return { consumption: "refused", why: refused };
    if (failingMs() >= stuckMs) return { consumption: "stuck", why: "NOTHING_SETTLED" };
    if (pausedQueues.length > 0) return { consumption: "paused", why: "QUEUES_PAUSED", pausedQueues };
    if (quietMs() >= stuckMs) return { consumption: "stuck", why: "NOTHING_FETCHED" };
    return { consumption: "moving" };
  }
}
