import { LaneUnavailableError } from "@junban/handoff-lock";
import type { OutOfMemoryError } from "@junban/handoff-lock";
import type { LaneTrouble } from "@junban/order-store";
import { Outage } from "./outage.ts";
import type { FleetLogger } from "./ports.ts";
import { ThrottledLines } from "./throttled-lines.ts";

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

/** How often one and the same trouble is worth a line, milliseconds. */
const SAY_EVERY_MS = 5_000;
/** A job whose batch failed is tried again within a lease; after so many leases nobody has tried. */
const FORGET_LEASES = 3;

/**
 * What to do about trouble that goes away by itself. Its duties:
 *
 * 1. Say how long a job that stepped back stays away: from `waitMs`, doubling, to the lease, with jitter.
 * 2. Notice that Postgres is away as a whole: fetching then pauses, and resumes by itself when Postgres answers, instead of
 *    carrying the backlog through the slots in vain.
 * 3. Notice that Redis is away, and see to it that the log has a line per outage and cause, not one per job.
 * 4. Know how long every batch has failed, although Postgres answers: the trouble may be one that does not pass.
 */
export class PassingTrouble {
  readonly #waitMs: number;
  readonly #leaseMs: number;
  readonly #random: () => number;
  readonly #postgres: Outage;
  readonly #redis: Outage;
  readonly #logger: FleetLogger;
  readonly #lines: ThrottledLines;
  #consumption: { pause(): Promise<void>; resume(): void } | undefined;
  #failing: { readonly sinceMs: number; latestMs: number } | null = null;

  constructor(options: PassingTroubleOptions) {
    const { waitMs, leaseMs, probePostgres, probeRedis, logger, random = Math.random } = options;
    this.#waitMs = waitMs;
    this.#leaseMs = leaseMs;
    this.#random = random;
    this.#logger = logger;
    this.#lines = new ThrottledLines({ logger, everyMs: SAY_EVERY_MS });
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

  /** Milliseconds for which every batch has failed; 0 when the latest did not, or none was tried for a while. */
  get failingMs(): number {
    const nowMs = performance.now();
    if (this.#failing === null || nowMs - this.#failing.latestMs > FORGET_LEASES * this.#leaseMs) return 0;
    return nowMs - this.#failing.sinceMs;
  }

  /** Events of a batch were committed. */
  settled(): void {
    this.#failing = null;
  }

  /** A lane's batch was not settled in full. What nobody foresaw is said out loud; what passes is not. */
  laneTrouble(lcid: string, { kind, error }: LaneTrouble): void {
    if (kind === "unknown") {
      const code = "code" in error ? String(error.code) : error.name;
      this.#lines.say("error", `lane ${code}`, {
        lcid,
        fields: { kind, error, code },
        line: "a lane's events could not be settled; will try again",
      });
    } else {
      this.#logger.debug({ lcid, kind, error }, "a lane's events are not settled yet");
    }
    if (kind === "deadline") return;
    const nowMs = performance.now();
    if (this.failingMs === 0) this.#failing = { sinceMs: nowMs, latestMs: nowMs };
    else if (this.#failing !== null) this.#failing.latestMs = nowMs;
    void this.#postgres.suspect(error);
  }

  /** A lane could not be asked. */
  laneUnanswered(error: LaneUnavailableError | OutOfMemoryError): void {
    if (error instanceof LaneUnavailableError) {
      void this.#redis.suspect(error);
      return;
    }
    this.#lines.say("error", error.code, {
      fields: { error },
      line: "Redis is full; jobs step back until it takes requests again",
    });
  }

  /** A job failed in a way that nobody thought of; it comes again, and so may the line. */
  jobFailed(lcid: string, error: Error): void {
    this.#lines.say("error", `job ${error.name}`, {
      lcid,
      fields: { err: error },
      line: "a job failed in a way nobody foresaw",
    });
  }

  /** Fetching or ending jobs failed. That Redis is away has its own line; everything else is said. */
  async consumptionTrouble(error: Error): Promise<void> {
    if (await this.#redis.suspect(error)) return;
    this.#lines.say("warn", `consumption ${error.name}`, {
      fields: { error },
      line: "fetching or ending a job failed; it will come again",
    });
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
      this.#logger.warn({ error }, "fetching could not be paused");
    });
  }
}
