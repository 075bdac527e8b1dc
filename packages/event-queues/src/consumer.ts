import type { Family } from "@junban/orders";
import type { RedisAddress } from "./connection.ts";

export interface IncomingJob {
  /** BullMQ's id, unique within the family. */
  readonly id: string;
  readonly family: Family;
  /** The job's name, by convention the event's type. */
  readonly name: string;
  /** What the job carries, parsed; whatever a producer put there. */
  readonly data: unknown;
  /** How often this job was delayed before. */
  readonly stepsBack: number;
}

/** How a processor ends a job. */
export type JobEnd =
  | { readonly kind: "completed" }
  /** Put back; it will be fetched again after `delayMs`. */
  | { readonly kind: "delayed"; readonly delayMs: number }
  /** Fails for good: kept, bounded, for people. */
  | { readonly kind: "unusable"; readonly reason: string };

export interface ConsumeOptions {
  /**
   * A client given here is shared for everything but the blocking wait when its `maxRetriesPerRequest` is null;
   * otherwise it only lends its address. It is never closed here.
   */
  readonly redis: RedisAddress;
  readonly prefix?: string;
  readonly families: readonly Family[];
  /** Slots a family. */
  readonly concurrency: number;
  /** How long a job may go without sign of life before another process gets it. */
  readonly lockDurationMs: number;
  /** Failed jobs kept a family; older ones are dropped. */
  readonly keepFailed: number;
  /**
   * Must be idempotent: after a crash, an expired lock or a completion that Redis did not take, the same job comes
   * again. The signal aborts when the consumer closes. A rejection counts as `delayed` and is reported.
   */
  process(job: IncomingJob, signal: AbortSignal): Promise<JobEnd>;
  /** Told once per outage and kind of trouble, not once per retry. */
  onError(error: Error): void;
}

export type ConsumerState = "running" | "paused" | "closing" | "closed";

export interface Consumer {
  readonly state: ConsumerState;
  /** Stops fetching; does not wait for jobs that are being processed. */
  pause(): Promise<void>;
  resume(): void;
  /** Jobs whose processor runs at this moment, all families. */
  activeCount(): number;
  /** Milliseconds since the least lively family last heard from Redis or ended a job. An idle one hears every 5 seconds or so. */
  lastActivityMs(): number;
  /** Stops fetching, aborts the signal, waits for running processors, and gives up waiting at `deadlineMs` from now. */
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

export function consume(options: ConsumeOptions): Consumer {
  throw new Error(`not built yet: ${options.prefix ?? ""}`);
}
