import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Job } from "bullmq";
import type { Redis } from "ioredis";
import { lastingSettings, openConnection } from "./connection.ts";
import type { RedisAddress } from "./connection.ts";
import { CorkedWrites } from "./corked-writes.ts";
import { EndsUnderWay } from "./ends-under-way.ts";
import type { ErrorReports } from "./error-reports.ts";
import { UnusableUpdateError } from "./errors.ts";
import { EventWorker, UNREADABLE } from "./event-worker.ts";
import { GiantData } from "./giant-data.ts";
import type { JobEnd } from "./job.ts";
import { connectionPrefixOf } from "./names.ts";
import { RunningJobs } from "./running-jobs.ts";

/** A job of a queue of updates. */
export interface QueuedUpdate {
  /** What the job carries, parsed; whatever somebody put there. */
  readonly data: unknown;
  /** How often this job was delayed before. */
  readonly stepsBack: number;
}

export interface QueueWorkerOptions {
  readonly redis: RedisAddress;
  readonly prefix: string;
  readonly queueName: string;
  /** Shared, and made with `lastingSettings`; everything but the blocking wait. */
  readonly client: Redis;
  readonly concurrency: number;
  readonly lockDurationMs: number;
  readonly keepFailed: number;
  process(job: QueuedUpdate): Promise<JobEnd>;
  onUnusable(error: UnusableUpdateError): void;
}

const SUPERVISE_EVERY_MS = 1_000;
const FIRST_RETRY_MS = 1_000;

/** One queue's worker with its blocking connection, kept fetching until it is closed. */
export class QueueWorker {
  readonly #options: QueueWorkerOptions;
  readonly #reports: ErrorReports;
  readonly #blocking: Redis;
  readonly #worker: EventWorker;
  readonly #supervisor: NodeJS.Timeout;

  constructor(options: QueueWorkerOptions, reports: ErrorReports) {
    this.#options = options;
    this.#reports = reports;
    const { prefix, queueName, client, concurrency, lockDurationMs, keepFailed } = options;
    const connectionName = `${connectionPrefixOf({ prefix, queueName })}${randomBytes(6).toString("hex")}`;
    this.#blocking = openConnection(options.redis, { ...lastingSettings(), connectionName });
    this.#blocking.on("error", (error) => reports.add(error));
    const running = new RunningJobs();
    this.#worker = new EventWorker({
      queueName,
      prefix,
      concurrency,
      lockDurationMs,
      keepFailed,
      client,
      writes: new CorkedWrites(client),
      underWay: new EndsUnderWay(),
      blockingClient: this.#blocking,
      run: async (job) => running.once(job.id ?? "", async () => this.#process(job)),
      onError: (error) => reports.add(error),
    });
    this.#worker.keepFetching();
    // BullMQ's loop can end by itself; nobody would notice but the backlog.
    this.#supervisor = setInterval(() => this.#worker.keepFetching(), SUPERVISE_EVERY_MS).unref();
  }

  /** Stops fetching; does not wait for what is being processed. */
  async pause(): Promise<void> {
    clearInterval(this.#supervisor);
    await this.#worker.pause(true);
  }

  /** Waits for what is being processed, at most until `deadlineMs` from now. */
  async close({ deadlineMs }: { readonly deadlineMs: number }): Promise<void> {
    await this.pause();
    const given = new AbortController();
    const limit = sleep(deadlineMs, undefined, { signal: given.signal }).catch(() => undefined);
    // BullMQ's close never ends while Redis is away, hence the race.
    await Promise.race([this.#worker.close().catch((error: unknown) => this.#reports.add(error)), limit]);
    given.abort();
    this.#worker.abandon();
    this.#blocking.disconnect();
  }

  async #process(job: Job<unknown, JobEnd>): Promise<JobEnd> {
    const end = await this.#endOf(job);
    if (end.kind === "unusable") {
      const { queueName } = this.#options;
      this.#options.onUnusable(
        new UnusableUpdateError({ queue: queueName, jobId: job.id ?? "", reason: end.reason }),
      );
    }
    return end;
  }

  async #endOf(job: Job<unknown, JobEnd>): Promise<JobEnd> {
    if (job.data === UNREADABLE) return { kind: "unusable", reason: "its data is not JSON" };
    if (job.data instanceof GiantData) return { kind: "unusable", reason: GiantData.rule };
    // A stall is a crashed or overdue run, not a step back.
    const stepsBack = Math.max(0, job.attemptsStarted - 1 - job.stalledCounter);
    try {
      return await this.#options.process({ data: job.data, stepsBack });
    } catch (error) {
      this.#reports.add(error);
      const delayMs = Math.min(FIRST_RETRY_MS * 2 ** stepsBack, this.#options.lockDurationMs);
      return { kind: "delayed", delayMs };
    }
  }
}
