import type { Family } from "@junban/orders";
import type { RedisAddress } from "./connection.ts";

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
  counts(): Promise<Readonly<Record<Family, FamilyCounts>>>;
  /** Newest first, all families together, at most `limit`. */
  deadJobs(limit: number): Promise<readonly DeadJob[]>;
  /** Puts a failed job back into its queue; false when there is none of that id. */
  retryDead(family: Family, id: string): Promise<boolean>;
  /** Deletes a failed job; false when there is none of that id. */
  dropDead(family: Family, id: string): Promise<boolean>;
  /** Processes that are connected as consumers. */
  workers(): Promise<number>;
  close(): Promise<void>;
}

export function createQueueReader(options: QueueReaderOptions): QueueReader {
  throw new Error(`not built yet: ${options.prefix ?? ""}`);
}
