import { answersWithin } from "./outage.ts";

export interface Readiness {
  readonly ok: boolean;
  readonly detail: {
    readonly redis: "answers" | "silent";
    readonly postgres: "answers" | "silent";
    readonly consumption: "moving" | "paused" | "stuck" | "stopping";
  };
}

export interface HealthOptions {
  readonly probeRedis: () => Promise<void>;
  readonly probePostgres: () => Promise<void>;
  readonly paused: () => boolean;
  readonly stopping: () => boolean;
  /** Milliseconds since consumption last gave a sign of life; an idle one gives one every few seconds too. */
  readonly quietMs: () => number;
  /** So long a silence means stuck, milliseconds. */
  readonly stuckMs: number;
  /** Longest wait for each service, milliseconds; default 2000. */
  readonly limitMs?: number;
  /** How long an answer is good for, milliseconds; default 500. Probes of many callers then cost as much as one. */
  readonly goodForMs?: number;
}

/**
 * Whether this process really does its work: both services answer it, and jobs move, or none is there. A process that is
 * connected but fetches nothing is not ready, however well it feels.
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
    const { probeRedis, probePostgres, limitMs = 2000 } = this.#options;
    const [redis, postgres] = await Promise.all([
      answersWithin(probeRedis, limitMs),
      answersWithin(probePostgres, limitMs),
    ]);
    const consumption = this.#consumption();
    return {
      ok: redis && postgres && consumption === "moving",
      detail: { redis: redis ? "answers" : "silent", postgres: postgres ? "answers" : "silent", consumption },
    };
  }

  #consumption(): Readiness["detail"]["consumption"] {
    const { stopping, paused, quietMs, stuckMs } = this.#options;
    if (stopping()) return "stopping";
    if (paused()) return "paused";
    return quietMs() < stuckMs ? "moving" : "stuck";
  }
}
