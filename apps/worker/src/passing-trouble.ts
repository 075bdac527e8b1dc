import { OutOfMemoryError } from "@junban/handoff-lock";
import type { LaneTrouble } from "@junban/order-store";
import { Outage } from "./outage.ts";
import type { FleetLogger } from "./ports.ts";

export interface PassingTroubleOptions {
  /** Where the backoff of a job starts, milliseconds. */
  readonly waitMs: number;
  /** Where it ends, milliseconds. */
  readonly leaseMs: number;
  readonly probePostgres: () => Promise<void>;
  readonly probeRedis: () => Promise<void>;
  readonly logger: FleetLogger;
  /** Between 0 and 1; default `Math.random`. */
  readonly random?: () => number;
}

const FULL_SAID_EVERY_MS = 30_000;

/**
 * What to do about trouble that goes away by itself. Its duties:
 *
 * 1. Say how long a job that stepped back stays away: from `waitMs`, doubling, to the lease, with jitter.
 * 2. Notice that Postgres is away as a whole: fetching then pauses, and resumes by itself when Postgres answers, instead of
 *    carrying the backlog through the slots in vain.
 * 3. Notice that Redis is away, so that the log has one line per outage.
 */
export class PassingTrouble {
  readonly #waitMs: number;
  readonly #leaseMs: number;
  readonly #random: () => number;
  readonly #postgres: Outage;
  readonly #redis: Outage;
  readonly #logger: FleetLogger;
  #fullSaidUntilMs = 0;
  #consumption: { pause(): Promise<void>; resume(): void } | undefined;

  constructor(options: PassingTroubleOptions) {
    const { waitMs, leaseMs, probePostgres, probeRedis, logger, random = Math.random } = options;
    this.#waitMs = waitMs;
    this.#leaseMs = leaseMs;
    this.#random = random;
    this.#logger = logger;
    const bounds = { probeLimitMs: Math.max(1000, leaseMs / 2), pauseMs: 1000, logger, random };
    this.#postgres = new Outage({
      ...bounds,
      service: "Postgres",
      probe: probePostgres,
      onDown: () => this.#pause(),
      onUp: () => this.#consumption?.resume(),
    });
    this.#redis = new Outage({ ...bounds, service: "Redis", probe: probeRedis });
  }

  /** What fetching is to be paused while Postgres is away. Called once, when fetching has begun. */
  steer(consumption: { pause(): Promise<void>; resume(): void }): void {
    this.#consumption = consumption;
    if (this.#postgres.down) this.#pause();
  }

  get postgresAway(): boolean {
    return this.#postgres.down;
  }

  get redisAway(): boolean {
    return this.#redis.down;
  }

  /** A lane's batch was not settled in full. What nobody foresaw is said out loud; what passes is not. */
  laneTrouble(lcid: string, { kind, error }: LaneTrouble): void {
    if (kind === "unknown") {
      const code = "code" in error ? error.code : undefined;
      this.#logger.error(
        { lcid, code, error: error.message },
        "a lane's events could not be settled; will try again",
      );
    } else {
      this.#logger.debug({ lcid, kind, error: error.message }, "a lane's events are not settled yet");
    }
    if (kind !== "deadline") this.#postgres.suspect(error);
  }

  redisTrouble(error: Error): void {
    if (!(error instanceof OutOfMemoryError)) return this.#redis.suspect(error);
    const nowMs = performance.now();
    if (nowMs < this.#fullSaidUntilMs) return;
    this.#fullSaidUntilMs = nowMs + FULL_SAID_EVERY_MS;
    this.#logger.error(
      { service: "Redis" },
      "Redis is full and takes no further request; jobs step back until it does",
    );
  }

  /** How long a job stays away that has stepped back `stepsBack` times before. */
  delayMsAfter(stepsBack: number): number {
    const grownMs = this.#waitMs * 2 ** Math.min(stepsBack, 20);
    const boundedMs = Math.min(this.#leaseMs, grownMs);
    return Math.round(boundedMs * (0.5 + this.#random() / 2));
  }

  stop(): void {
    this.#postgres.stop();
    this.#redis.stop();
  }

  #pause(): void {
    this.#consumption?.pause().catch((error: unknown) => {
      this.#logger.warn({ error: String(error) }, "fetching could not be paused");
    });
  }
}
