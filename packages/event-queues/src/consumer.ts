import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Family } from "@junban/orders";
import type { Job } from "bullmq";
import type { RedisAddress } from "./connection.ts";
import { ConsumerConnections } from "./consumer-connections.ts";
import { CorkedWrites } from "./corked-writes.ts";
import { EndsUnderWay } from "./ends-under-way.ts";
import { ErrorReports } from "./error-reports.ts";
import type { QueueUnavailableCode } from "./errors.ts";
import { EventWorker, UNREADABLE } from "./event-worker.ts";
import { GiantData } from "./giant-data.ts";
import type { IncomingJob, JobEnd } from "./job.ts";
import { QUEUE_PREFIX, queueNameOf } from "./names.ts";
import { RunningJobs } from "./running-jobs.ts";

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
  /** Told of each job that failed for good without being processed, because its data could not be read. */
  onUnreadable?(): void;
  /** Told while jobs of deep lanes hold the slots, whenever others are found to wait; they are taken beside those. */
  onOthersWaiting?(): void;
}

export type ConsumerState = "running" | "paused" | "closing" | "closed";

export interface Consumer {
  readonly state: ConsumerState;
  /** Stops fetching; does not wait for jobs that are being processed. */
  pause(): Promise<void>;
  resume(): void;
  /** Jobs whose processor runs at this moment, all families. */
  activeCount(): number;
  /** Milliseconds since the least lively family last heard from Redis or ended a job. An idle one hears at least every ten seconds or so. */
  lastActivityMs(): number;
  /** Why some family's latest attempt to fetch was refused; null while all are answered. */
  refusal(): QueueUnavailableCode | null;
  /** Stops fetching, aborts the signal, waits for running processors, and gives up waiting at `deadlineMs` from now. */
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

/** Starts fetching at once. While Redis is away it keeps trying; consumption resumes by itself. */
export function consume(options: ConsumeOptions): Consumer {
  return new FamiliesConsumer(options);
}

const SUPERVISE_EVERY_MS = 1_000;
const GIVE_UP_ON_REDIS_MS = 1_000;
const SHORTEST_SILENCE_MS = 5_000;
const FIRST_RETRY_MS = 1_000;
const MOST_REASON_CHARS = 200;

class FamiliesConsumer implements Consumer {
  readonly #options: ConsumeOptions;
  readonly #reports: ErrorReports;
  readonly #connections: ConsumerConnections;
  readonly #writes: CorkedWrites;
  readonly #underWay = new EndsUnderWay();
  readonly #workers: readonly EventWorker[];
  readonly #stopping = new AbortController();
  readonly #supervisor: NodeJS.Timeout;
  #active = 0;
  #state: ConsumerState = "running";
  #closing: Promise<void> | undefined;

  constructor(options: ConsumeOptions) {
    this.#options = options;
    this.#reports = new ErrorReports((error) => options.onError(error));
    // Every waiting job listens, and hundreds of them are ordinary.
    setMaxListeners(0, this.#stopping.signal);
    this.#connections = new ConsumerConnections(
      {
        redis: options.redis,
        prefix: options.prefix ?? QUEUE_PREFIX,
        families: options.families,
        silenceMs: Math.max(options.lockDurationMs, SHORTEST_SILENCE_MS),
      },
      this.#reports,
    );
    this.#writes = new CorkedWrites(this.#connections.main);
    this.#workers = options.families.map((family) => this.#createWorker(family));
    this.#supervisor = setInterval(() => this.#keepFetching(), SUPERVISE_EVERY_MS).unref();
    this.#keepFetching();
  }

  get state(): ConsumerState {
    return this.#state;
  }

  async pause(): Promise<void> {
    if (this.#state !== "running") return;
    this.#state = "paused";
    await this.#stopFetching();
  }

  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    for (const worker of this.#workers) {
      worker.noteActivity();
      worker.resume().catch((error: unknown) => this.#reports.add(error));
    }
  }

  activeCount(): number {
    return this.#active;
  }

  lastActivityMs(): number {
    const nowMs = performance.now();
    return Math.max(0, ...this.#workers.map((worker) => nowMs - worker.lastActivityAtMs));
  }

  refusal(): QueueUnavailableCode | null {
    return this.#workers.find((worker) => worker.refusal !== null)?.refusal ?? null;
  }

  async close({ deadlineMs }: { readonly deadlineMs: number }): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    await this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    const endsAtMs = performance.now() + deadlineMs;
    this.#state = "closing";
    clearInterval(this.#supervisor);
    await this.#stopFetching();
    this.#stopping.abort();
    const given = new AbortController();
    const orderly = Promise.allSettled(this.#workers.map(async (worker) => worker.close()));
    // BullMQ's close never ends while Redis is away, hence the race.
    await Promise.race([orderly, this.#untilPointless({ endsAtMs, signal: given.signal })]);
    given.abort();
    for (const worker of this.#workers) worker.abandon();
    this.#connections.end();
    this.#state = "closed";
  }

  /** Until the deadline, or until nothing runs and Redis has been away for a second, so that no end can be written. */
  async #untilPointless(options: { readonly endsAtMs: number; readonly signal: AbortSignal }): Promise<void> {
    let hopefulAtMs = performance.now();
    while (performance.now() < options.endsAtMs && !options.signal.aborted) {
      if (this.#active > 0 || this.#connections.isUp) hopefulAtMs = performance.now();
      if (performance.now() - hopefulAtMs > GIVE_UP_ON_REDIS_MS) return;
      await sleep(20, undefined, { signal: options.signal }).catch(() => undefined);
    }
  }

  async #stopFetching(): Promise<void> {
    await Promise.all(this.#workers.map(async (worker) => worker.pause(true)));
  }

  /** BullMQ's loop can end while it is paused and then miss a resume; nobody would notice but the backlog. */
  #keepFetching(): void {
    if (this.#state !== "running") return;
    for (const worker of this.#workers) worker.keepFetching();
  }

  #createWorker(family: Family): EventWorker {
    const { prefix = QUEUE_PREFIX, concurrency, lockDurationMs, keepFailed } = this.#options;
    const running = new RunningJobs();
    return new EventWorker({
      queueName: queueNameOf(family),
      prefix,
      concurrency,
      lockDurationMs,
      keepFailed,
      client: this.#connections.main,
      writes: this.#writes,
      underWay: this.#underWay,
      blockingClient: this.#connections.blockingFor(family),
      run: async (job) => running.once(job.id ?? "", async () => this.#process(family, job)),
      onError: (error) => this.#reports.add(error),
      onOthersWaiting: () => this.#options.onOthersWaiting?.(),
    });
  }

  async #process(family: Family, job: Job<unknown, JobEnd>): Promise<JobEnd> {
    if (job.data === UNREADABLE || job.data instanceof GiantData) {
      this.#options.onUnreadable?.();
      const reason = job.data === UNREADABLE ? "its data is not JSON" : GiantData.rule;
      return { kind: "unusable", reason };
    }
    // A stall is a crashed or overdue run, not a step back.
    const stepsBack = Math.max(0, job.attemptsStarted - 1 - job.stalledCounter);
    this.#active += 1;
    try {
      const { id = "", name, data } = job;
      const end = await this.#options.process({ id, family, name, data, stepsBack }, this.#stopping.signal);
      return end.kind === "unusable" ? { ...end, reason: end.reason.slice(0, MOST_REASON_CHARS) } : end;
    } catch (error) {
      this.#reports.add(error);
      return {
        kind: "delayed",
        delayMs: Math.min(FIRST_RETRY_MS * 2 ** stepsBack, this.#options.lockDurationMs),
      };
    } finally {
      this.#active -= 1;
    }
  }
}
