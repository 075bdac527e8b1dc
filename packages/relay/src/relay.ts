import { setTimeout as sleep } from "node:timers/promises";
import { QueueUnavailableError, type UpdatesPublisher } from "@junban/event-queues";
import type { News, Outbox, OutboxLead } from "@junban/order-store";
import { passOn, type PassedOn } from "./passing-on.ts";
import type { RelayLogger, RelayObserver } from "./ports.ts";

/** Each is said once when it begins, and once when it is over. */
export type Obstacle = "outbox away" | "queue away" | "queue full";

export interface RelayOptions {
  readonly outbox: Outbox;
  readonly updates: UpdatesPublisher;
  /**
   * Jobs that may wait in the queue. With so many the news stay in the outbox, which is on disk, until somebody has taken some.
   */
  readonly cap: number;
  readonly logger: RelayLogger;
  readonly observer: RelayObserver;
  /** How long to wait for a ring before looking all the same, milliseconds. Default 1,000; below the 10,000 of a silent lead. */
  readonly pollMs?: number;
  /** Between 0 and 1; default `Math.random`. */
  readonly random?: () => number;
}

export interface Relay {
  /** True while this process is the one that passes news on. */
  readonly leads: boolean;
  /** What stands in the way at present; null while nothing does. */
  readonly obstacle: Obstacle | null;
  /** Ends after the news in hand, and lets another process lead. */
  stop(): Promise<void>;
}

/** Starts at once, and goes on through every outage until it is stopped. */
export function createRelay(options: RelayOptions): Relay {
  return new LeadingRelay(options);
}

/** News read, put into the queue and deleted at a time. */
const BATCH = 500;
/** The most that are read while the queue refuses everything. */
const MOST_READ = 16 * BATCH;
/** Between two attempts to lead, and the longest between two to pass on. */
const ATTEMPT_EVERY_MS = 2_000;
const FIRST_RETRY_MS = 100;
/** A queue that this process cannot reach for so long may be in reach of another. */
const STAND_ASIDE_AFTER_MS = 10_000;

interface Attempt extends PassedOn {
  readonly isFull: boolean;
}

class LeadingRelay implements Relay {
  readonly #options: RelayOptions;
  readonly #random: () => number;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #leads = false;
  /** Queued, and perhaps not yet deleted. */
  #passedOn: readonly number[] = [];
  #obstacle: Obstacle | null = null;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#running = this.#run();
  }

  get leads(): boolean {
    return this.#leads;
  }

  get obstacle(): Obstacle | null {
    return this.#obstacle;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        const lead = await this.#options.outbox.lead();
        // What stood in this process's way is the other one's business now.
        if (lead === null) this.#overcome("outbox away", "queue away", "queue full");
        else await this.#lead(lead);
      } catch (error) {
        this.#meet("outbox away", "the outbox cannot be read or emptied; what was committed waits in it", {
          error,
        });
      }
      await this.#pause(this.#about(ATTEMPT_EVERY_MS));
    }
  }

  async #lead(lead: OutboxLead): Promise<void> {
    const { logger, observer } = this.#options;
    this.#leads = true;
    observer.leads(true);
    // In an outage the lead goes round; that is one outage and no news.
    if (this.#obstacle === null) logger.info({}, "this process passes order updates on");
    try {
      await this.#passOnAll(lead);
    } finally {
      this.#leads = false;
      observer.leads(false);
      observer.lag(0);
      await lead.leave();
    }
  }

  /** Until it is stopped, or has not reached the queue for so long that another should try. Throws when the lead is lost. */
  async #passOnAll(lead: OutboxLead): Promise<void> {
    const { pollMs = 1_000 } = this.#options;
    const { signal } = this.#stopping;
    let limit = BATCH;
    let retryMs = FIRST_RETRY_MS;
    let reachedAtMs = performance.now();
    do {
      const news = await this.#next(lead, signal.aborted ? 0 : limit);
      if (news.length === 0) {
        reachedAtMs = performance.now();
        await lead.rung({ withinMs: pollMs, signal });
        continue;
      }
      const { passed, refused, trouble, isFull } = await this.#attempt(news);
      this.#passedOn = passed.map(({ id }) => id);
      for (const { news: one, reason } of refused) await this.#park(lead, one, reason);
      if (trouble === null || passed.length > 0 || !isOutage(trouble)) reachedAtMs = performance.now();
      // Where nothing at all is taken, further ones show whether it is these or the queue.
      limit = trouble?.code === "REDIS_REFUSED" ? Math.min(2 * limit, MOST_READ) : BATCH;
      if (trouble === null) {
        retryMs = FIRST_RETRY_MS;
        if (isFull) await this.#pause(pollMs);
      } else {
        if (performance.now() - reachedAtMs > STAND_ASIDE_AFTER_MS) break;
        await this.#pause(this.#about(retryMs));
        retryMs = Math.min(2 * retryMs, ATTEMPT_EVERY_MS);
      }
    } while (!signal.aborted);
    if (this.#passedOn.length > 0) await this.#next(lead, 0);
  }

  /** Also deletes what an earlier lead has queued and could not delete: nothing is queued again before that works. */
  async #next(lead: OutboxLead, limit: number): Promise<readonly News[]> {
    const { observer } = this.#options;
    const news = await lead.next({ passedOn: this.#passedOn, limit });
    if (this.#passedOn.length > 0) observer.passedOn(this.#passedOn.length);
    this.#passedOn = [];
    if (limit > 0) observer.lag(news[0]?.ageMs ?? 0);
    this.#overcome("outbox away");
    return news;
  }

  async #attempt(news: readonly News[]): Promise<Attempt> {
    const { updates, cap } = this.#options;
    try {
      const room = cap - (await updates.depth());
      if (room <= 0) {
        this.#meet("queue full", "the queue of order updates is full; the rest waits in the outbox", { cap });
        return { ...NOTHING, isFull: true };
      }
      const passed = await passOn(news.slice(0, room), updates, { signal: this.#stopping.signal });
      if (passed.trouble !== null) this.#isAway(passed.trouble);
      else this.#overcome("queue away");
      // With a little room it fills again at once.
      if (room >= cap / 2) this.#overcome("queue full");
      return { ...passed, isFull: false };
    } catch (error) {
      if (!(error instanceof QueueUnavailableError)) throw error;
      this.#isAway(error);
      return { ...NOTHING, trouble: error };
    }
  }

  #isAway(error: QueueUnavailableError): void {
    this.#meet("queue away", "order updates cannot be queued; they wait in the outbox", { error });
  }

  async #park(lead: OutboxLead, { id, lcid, version }: News, reason: string): Promise<void> {
    await lead.park({ id, reason });
    this.#options.observer.parked();
    this.#options.logger.error({ lcid, version, reason }, "an order update was parked; the others go on");
  }

  #meet(obstacle: Obstacle, line: string, fields: object): void {
    if (this.#obstacle === obstacle) return;
    this.#obstacle = obstacle;
    this.#options.logger.error(fields, line);
  }

  #overcome(...obstacles: readonly Obstacle[]): void {
    if (this.#obstacle === null || !obstacles.includes(this.#obstacle)) return;
    this.#obstacle = null;
    this.#options.logger.info({}, "order updates flow again");
  }

  /** Between half of it and all, so that processes do not move in step. */
  #about(ms: number): number {
    return ms * (0.5 + this.#random() / 2);
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}

/** Whether Redis is out of reach, and not only unwilling. */
function isOutage({ code }: QueueUnavailableError): boolean {
  return code === "REDIS_AWAY" || code === "REDIS_TIMEOUT";
}

const NOTHING: Attempt = { passed: [], refused: [], trouble: null, isFull: false };
