import { FAMILIES } from "@junban/orders";
import type { Family } from "@junban/orders";
import type { Job } from "bullmq";
import type { Redis } from "ioredis";
import { connectedConsumers } from "./connected-consumers.ts";
import { answeringSettings, openConnection, unavailable, whenReady, within } from "./connection.ts";
import type { RedisAddress } from "./connection.ts";
import { openFamilyQueues } from "./family-queues.ts";
import type { FamilyQueues } from "./family-queues.ts";
import { QUEUE_PREFIX, consumerConnectionPrefix } from "./names.ts";
import { readRedisFacts } from "./redis-facts.ts";
import type { RedisFacts } from "./redis-facts.ts";
import { backlogOf } from "./update-backlog.ts";
import type { UpdateBacklog } from "./update-backlog.ts";
import { unsubscribeUpdates } from "./update-consumer.ts";

export interface QueueReaderOptions {
  readonly redis: RedisAddress;
  readonly prefix?: string;
  /** Longest wait for an answer. Default 5,000. */
  readonly timeoutMs?: number;
}

export interface FamilyCounts {
  readonly waiting: number;
  readonly prioritized: number;
  readonly active: number;
  readonly delayed: number;
  readonly failed: number;
}

/** A job that failed for good. */
export interface DeadJob {
  readonly family: Family;
  readonly id: string;
  readonly name: string;
  readonly reason: string;
  readonly failedAtMs: number;
  /** The job's data as it lies in Redis: JSON text, or whatever a producer put there. */
  readonly text: string;
}

/** Every method rejects with a QueueUnavailableError when Redis does not answer. */
export interface QueueReader {
  /** Under which it looks. */
  readonly prefix: string;
  counts(): Promise<Readonly<Record<Family, FamilyCounts>>>;
  /** Families whose queue somebody paused, so that no process fetches from it. */
  paused(): Promise<readonly Family[]>;
  /** Newest first, all families together, at most `limit`. */
  deadJobs(limit: number): Promise<readonly DeadJob[]>;
  /** Whether any of the queues was ever used under this prefix: a worker or a job leaves marks that stay. */
  isUsed(): Promise<boolean>;
  /** Puts a failed job back into its queue; false when there is none of that id. */
  retryDead(family: Family, id: string): Promise<boolean>;
  /** Deletes a failed job; false when there is none of that id. */
  dropDead(family: Family, id: string): Promise<boolean>;
  /** Processes that are connected as consumers; null when Redis does not tell who is connected. */
  workers(): Promise<number | null>;
  /** What waits for each name that is subscribed to order updates, and who serves it. */
  updates(): Promise<UpdateBacklog>;
  /** Ends a name's subscription and deletes what waits for it; see `unsubscribeUpdates`. */
  forgetUpdates(name: string): Promise<void>;
  /** The server behind the queues and lanes: how it keeps what it is given, who can reach it, and its clock. */
  server(): Promise<RedisFacts>;
  close(): Promise<void>;
}

/** What BullMQ keeps of a queue when all its jobs are gone. */
const MARKS = ["meta", "id", "events"] as const;

export function createQueueReader(options: QueueReaderOptions): QueueReader {
  return new FamiliesReader(options);
}

class FamiliesReader implements QueueReader {
  readonly #redis: Redis;
  readonly #queues: FamilyQueues;
  readonly prefix: string;
  readonly #timeoutMs: number;

  constructor({ redis, prefix = QUEUE_PREFIX, timeoutMs = 5_000 }: QueueReaderOptions) {
    this.prefix = prefix;
    this.#timeoutMs = timeoutMs;
    this.#redis = openConnection(redis, answeringSettings({ timeoutMs }));
    // Each question answers for itself.
    this.#redis.on("error", () => undefined);
    this.#queues = openFamilyQueues(this.#redis, { prefix });
  }

  async counts(): Promise<Readonly<Record<Family, FamilyCounts>>> {
    return this.#ask(async () => {
      const counted = await Promise.all(
        FAMILIES.map(async (family) => [family, await this.#countsOf(family)] as const),
      );
      return Object.fromEntries(counted) as Record<Family, FamilyCounts>;
    });
  }

  async paused(): Promise<readonly Family[]> {
    return this.#ask(async () => {
      const isPaused = await Promise.all(FAMILIES.map(async (family) => this.#queues[family].isPaused()));
      return FAMILIES.filter((_family, index) => isPaused[index]);
    });
  }

  async deadJobs(limit: number): Promise<readonly DeadJob[]> {
    if (limit < 1) return [];
    return this.#ask(async () => {
      const found = await Promise.all(FAMILIES.map(async (family) => this.#deadJobsOf(family, limit)));
      return found
        .flat()
        .toSorted((one, other) => other.failedAtMs - one.failedAtMs)
        .slice(0, limit);
    });
  }

  async isUsed(): Promise<boolean> {
    return this.#ask(async () => {
      const marks = Object.values(this.#queues).flatMap((queue) => MARKS.map((mark) => queue.toKey(mark)));
      return (await this.#redis.exists(...marks)) > 0;
    });
  }

  async retryDead(family: Family, id: string): Promise<boolean> {
    return this.#ask(async () => {
      if (!(await this.#isDead(family, id))) return false;
      const queue = this.#queues[family];
      // Not through BullMQ's Job, which cannot be made of data that is not JSON.
      const job = { id, opts: {} } as Job;
      await queue
        .getBackend()
        .retryFinishedJob(job, "failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
      return true;
    });
  }

  async dropDead(family: Family, id: string): Promise<boolean> {
    return this.#ask(async () => {
      if (!(await this.#isDead(family, id))) return false;
      return (await this.#queues[family].remove(id)) === 1;
    });
  }

  async workers(): Promise<number | null> {
    return this.#ask(async () => {
      const starts = FAMILIES.map((family) => consumerConnectionPrefix({ prefix: this.prefix, family }));
      const connected = await connectedConsumers(this.#redis);
      return connected === null
        ? null
        : new Set(starts.flatMap((start) => connected.startingWith(start))).size;
    });
  }

  async updates(): Promise<UpdateBacklog> {
    return this.#ask(async () => backlogOf(this.#redis, this.prefix));
  }

  async forgetUpdates(name: string): Promise<void> {
    await unsubscribeUpdates({ redis: this.#redis, prefix: this.prefix, name });
  }

  async server(): Promise<RedisFacts> {
    return this.#ask(async () => readRedisFacts(this.#redis));
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      await whenReady(this.#redis, { withinMs: this.#timeoutMs });
      return await within(question(), this.#timeoutMs);
    } catch (error) {
      throw unavailable(error);
    }
  }

  async #countsOf(family: Family): Promise<FamilyCounts> {
    const states = ["waiting", "prioritized", "active", "delayed", "failed"] as const;
    const queue = this.#queues[family];
    const [counts, setAside] = await Promise.all([
      queue.getJobCounts(...states),
      // Dashboards with an older BullMQ set a paused queue's jobs aside; ours leaves them where they wait.
      this.#redis.llen(queue.toKey("paused")),
    ]);
    const { waiting = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts;
    return { waiting: waiting + setAside, prioritized, active, delayed, failed };
  }

  async #deadJobsOf(family: Family, limit: number): Promise<DeadJob[]> {
    const queue = this.#queues[family];
    const ids = await this.#redis.zrevrange(queue.toKey("failed"), 0, limit - 1);
    return Promise.all(
      ids.map(async (id) => {
        const fields = ["name", "failedReason", "finishedOn", "data"] as const;
        const [name, reason, failedAt, text] = await this.#redis.hmget(queue.toKey(id), ...fields);
        return {
          family,
          id,
          name: name ?? "",
          reason: reason ?? "",
          failedAtMs: Number(failedAt ?? 0),
          text: text ?? "",
        };
      }),
    );
  }

  async #isDead(family: Family, id: string): Promise<boolean> {
    return (await this.#redis.zscore(this.#queues[family].toKey("failed"), id)) !== null;
  }
}
