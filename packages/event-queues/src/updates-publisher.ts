import { Job } from "bullmq";
import type { Redis } from "ioredis";
import { answeringSettings, openConnection, unavailable, whenReady, within } from "./connection.ts";
import type { RedisAddress } from "./connection.ts";
import { QUEUE_PREFIX } from "./names.ts";
import { openQueue } from "./open-queue.ts";
import type { EventQueue } from "./open-queue.ts";
import { updateJobId, UPDATES_QUEUE } from "./update-names.ts";

/** What was committed about one version of an order. */
export interface OrderNews {
  readonly lcid: string;
  readonly version: number;
  /** What the job carries. */
  readonly payload: unknown;
}

export interface UpdatesPublisherOptions {
  /** A client given here lends its address and credentials; the publisher opens a connection of its own. */
  readonly redis: RedisAddress;
  /** Default `junban`. */
  readonly prefix?: string;
  /** Longest wait for Redis in a call, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
}

/** Puts committed news into the queue `{order-updates}`. Each call rejects with a {@link QueueUnavailableError}. */
export interface UpdatesPublisher {
  /** Jobs in the queue that have not ended, those that are being processed included. */
  depth(): Promise<number>;
  /**
   * Adds one job each, in the given order. News whose job is there already are left as they are, so that adding again is safe.
   * When it rejects, some may have been added; where memory ran out, none behind one that was not.
   */
  add(news: readonly OrderNews[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Jobs of one transaction. Redis does nothing else meanwhile, so there are not too many; nor so few that the way there and back
 * counts for much.
 */
const TOGETHER = 100;
/** How often a server is sent its scripts again before it is believed to keep none. */
const MOST_RELOADS = 10;

/** Connects at once. */
export function createUpdatesPublisher(options: UpdatesPublisherOptions): UpdatesPublisher {
  return new QueueUpdatesPublisher(options);
}

interface NewJob {
  readonly id: string;
  readonly json: ReturnType<Job["asJSON"]>;
}

class QueueUpdatesPublisher implements UpdatesPublisher {
  readonly #redis: Redis;
  readonly #queue: EventQueue;
  readonly #timeoutMs: number;
  /** Whoever added before may have been refused in the middle of a job. */
  #mayHaveLeftHalves = true;

  constructor({ redis, prefix = QUEUE_PREFIX, timeoutMs = 5_000 }: UpdatesPublisherOptions) {
    this.#redis = openConnection(redis, answeringSettings({ timeoutMs }));
    // Each call answers for itself.
    this.#redis.on("error", () => undefined);
    this.#queue = openQueue(this.#redis, { prefix, queueName: UPDATES_QUEUE });
    this.#timeoutMs = timeoutMs;
  }

  async depth(): Promise<number> {
    return this.#answered(async () =>
      this.#queue.getJobCountByTypes("waiting", "prioritized", "delayed", "active"),
    );
  }

  async add(news: readonly OrderNews[]): Promise<void> {
    if (news.length === 0) return;
    const jobs = news.map((one) => this.#jobOf(one));
    if (this.#mayHaveLeftHalves) await this.#answered(async () => this.#clearHalves(news));
    this.#mayHaveLeftHalves = true;
    for (let first = 0; first < jobs.length; first += TOGETHER) {
      await this.#answered(async () => this.#addTogether(jobs.slice(first, first + TOGETHER)));
    }
    this.#mayHaveLeftHalves = false;
  }

  #jobOf({ lcid, version, payload }: OrderNews): NewJob {
    const id = updateJobId({ lcid, version });
    return { id, json: new Job(this.#queue, "order-update", payload, { jobId: id }, id).asJSON() };
  }

  /**
   * In a transaction, which runs out of memory before its first job or not at all. In BullMQ's own way, a pipeline, each job finds out
   * by itself, and a later version would be queued before an earlier one where memory came free in between.
   */
  async #addTogether(jobs: readonly NewJob[]): Promise<void> {
    const backend = this.#queue.getBackend();
    const add = async (): Promise<Error | undefined> => {
      const transaction = (await backend.client).multi();
      for (const { id, json } of jobs) void backend.addJobToTransaction(transaction, json, id);
      const results = (await transaction.exec()) as readonly (readonly [Error | null, unknown])[];
      return results.find(([error]) => error !== null)?.[0] ?? undefined;
    };
    let refusal = await add();
    for (let times = 0; isForgotten(refusal) && times < MOST_RELOADS; times += 1) {
      // A server that forgot its scripts is sent them only outside of a transaction, and may forget them again until that.
      for (const { id, json } of jobs.slice(0, 1)) await backend.addJob(json, id);
      refusal = await add();
    }
    if (refusal !== undefined) throw refusal;
  }

  /** A job is written before it is put in line. One that was written only would pass for one that is there. */
  async #clearHalves(news: readonly OrderNews[]): Promise<void> {
    await Promise.all(
      news.map(async (one) => {
        const id = updateJobId(one);
        if ((await this.#queue.getJobState(id)) === "unknown") await this.#redis.del(this.#queue.toKey(id));
      }),
    );
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
    return Promise.resolve();
  }

  async #answered<T>(ask: () => Promise<T>): Promise<T> {
    try {
      await whenReady(this.#redis, { withinMs: this.#timeoutMs });
      return await within(ask(), this.#timeoutMs);
    } catch (thrown) {
      const error = unavailable(thrown);
      // Whatever else it owes would be mistaken for the next answer's delay.
      if (error.code === "REDIS_TIMEOUT") this.#redis.disconnect(true);
      throw error;
    }
  }
}

/** Whether a transaction was refused because the server has no such script (any more). */
function isForgotten(refusal: Error | undefined): boolean {
  return refusal?.message.includes("NOSCRIPT") === true;
}
