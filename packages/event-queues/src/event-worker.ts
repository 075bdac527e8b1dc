import { setTimeout as sleep } from "node:timers/promises";
import { QueueKeys, RedisConnection, UnrecoverableError, Worker } from "bullmq";
import type { Job, JobJson } from "bullmq";
import type { Redis } from "ioredis";
import { unavailable } from "./connection.ts";
import type { CorkedWrites } from "./corked-writes.ts";
import { mendDamagedJobs, stumbled } from "./damaged-jobs.ts";
import type { EndsUnderWay } from "./ends-under-way.ts";
import type { QueueUnavailableCode } from "./errors.ts";
import { GiantData } from "./giant-data.ts";
import type { JobEnd } from "./job.ts";
import { PlainBackend } from "./plain-backend.ts";
import { SpareSlots } from "./spare-slots.ts";

/** Stands in for data that is not JSON, which BullMQ would otherwise fetch, fail to read, and fetch again for ever. */
export const UNREADABLE: unique symbol = Symbol("data that is not JSON");

const COOL_DOWN_MS = 1_000;
const STALLED_INTERVAL_MS = 1_000;
const RETRY_AFTER_MS = 1_000;

export interface EventWorkerOptions {
  readonly queueName: string;
  readonly prefix: string;
  readonly concurrency: number;
  readonly lockDurationMs: number;
  readonly keepFailed: number;
  /** Shared; everything but the blocking wait. */
  readonly client: Redis;
  readonly writes: CorkedWrites;
  readonly underWay: EndsUnderWay;
  /** This worker's own. */
  readonly blockingClient: Redis;
  /** Must not reject. */
  readonly run: (job: Job<unknown, JobEnd>) => Promise<JobEnd>;
  readonly onError: (error: unknown) => void;
  /** Told when jobs of first priority are found to wait while jobs of deep lanes hold the slots. */
  readonly onOthersWaiting?: (() => void) | undefined;
}

/**
 * BullMQ's worker with five of its habits changed:
 *
 * 1. A job ends the way the processor's value says. Stepping back fetches the next job in the same step.
 * 2. An end that Redis did not take leaves the job alone. BullMQ would fail a job whose work is done; left alone, it
 *    comes again once its lock has lapsed, and the processor recognises it.
 * 3. A crash is not a failure of the job: neither stalls nor a verdict about them ever fail one (see PlainBackend).
 * 4. When fetching is refused (memory limit, read-only), it waits a second before it asks again instead of spinning.
 * 5. While jobs of deep lanes hold its slots, others are fetched beside them (see SpareSlots).
 */
export class EventWorker extends Worker<unknown, JobEnd, string, PlainBackend> {
  readonly #onError: (error: unknown) => void;
  readonly #mend: () => Promise<void>;
  readonly #cooling = new AbortController();
  readonly #writes: CorkedWrites;
  readonly #spare: SpareSlots<Job<unknown, JobEnd>>;
  readonly #firstPriority: PlainBackend;
  #takenBeside = 0;
  #lastActivityMs = performance.now();
  #refusal: QueueUnavailableCode | null = null;

  constructor(options: EventWorkerOptions) {
    super(
      options.queueName,
      async (job: Job<unknown, JobEnd>) => options.run(job),
      {
        connection: options.client,
        prefix: options.prefix,
        autorun: false,
        concurrency: options.concurrency,
        lockDuration: options.lockDurationMs,
        stalledInterval: STALLED_INTERVAL_MS,
        maxStalledCount: Number.MAX_SAFE_INTEGER,
        runRetryDelay: RETRY_AFTER_MS,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: options.keepFailed },
      },
      // Both clients are made and ended outside, since BullMQ's own ending waits for a Redis that may be away.
      (name, settings) => {
        const keys = new QueueKeys(options.prefix);
        return new PlainBackend(
          { client: options.client, writes: options.writes, underWay: options.underWay },
          new RedisConnection(options.client, { shared: true, blocking: false }),
          name,
          keys.getKeys(name),
          (type) => keys.toKey(name, type),
          settings,
          new RedisConnection(options.blockingClient, { shared: true, blocking: true }),
        );
      },
    );
    this.#onError = options.onError;
    this.#writes = options.writes;
    const keys = new QueueKeys(options.prefix).getKeys(options.queueName);
    this.#firstPriority = this.getBackend().ofFirstPriority();
    this.#spare = new SpareSlots({
      slots: options.concurrency,
      fetch: async () => this.#fetchBeside(),
      waiting: async () => options.client.llen(keys["wait"] ?? ""),
      process: async (job) => this.#processBeside(job),
      onCrowd: (isThere) => {
        if (isThere) options.underWay.crowdBegan();
        else options.underWay.crowdEnded();
      },
      onFound: () => {
        options.underWay.makeRoom();
        options.onOthersWaiting?.();
      },
    });
    this.#mend = async () => mendDamagedJobs(options.client, keys).catch(options.onError);
    this.on("error", options.onError);
  }

  /** When this worker last heard from Redis or ended a job, on the clock of `performance.now()`. */
  get lastActivityAtMs(): number {
    return this.#lastActivityMs;
  }

  /** Why the latest attempt to fetch was refused; null when it was answered, with a job or without. */
  get refusal(): QueueUnavailableCode | null {
    return this.#refusal;
  }

  noteActivity(): void {
    this.#lastActivityMs = performance.now();
  }

  /** Fetches until closed. Harmless when it is running, paused or closing. */
  keepFetching(): void {
    if (this.isRunning() || this.isPaused() || this.closing !== undefined) return;
    this.noteActivity();
    this.run().catch(this.#onError);
  }

  /** Ends every timer, so that nothing holds the process when an orderly close does not come to its end. */
  abandon(): void {
    this.#cooling.abort();
    this.lockManager.close().catch(this.#onError);
  }

  override async processJob(
    job: Job<unknown, JobEnd>,
    token: string,
    fetchNextCallback?: () => boolean,
  ): Promise<void | Job<unknown, JobEnd>> {
    // Whatever its type says, it is text here, and compares as the number it spells.
    const isDeep = job.priority > 0;
    if (isDeep) this.#spare.deepBegan();
    try {
      return await super.processJob(job, token, fetchNextCallback);
    } finally {
      if (isDeep) this.#spare.deepEnded();
      this.#lastActivityMs = performance.now();
    }
  }

  /** Also waits for the jobs that BullMQ's own slots know nothing of. */
  override async close(force?: boolean): Promise<void> {
    if (force !== true) await this.#spare.close();
    await super.close(force);
  }

  protected override createJob(data: JobJson, jobId: string): Job<unknown, JobEnd> {
    // Also where ends fetch the next job in the same step, which Redis may allow while it refuses to fetch by itself.
    this.#refusal = null;
    const giant = GiantData.of(data.data);
    if (giant !== null) return this.#createJobWith(giant, data, jobId);
    try {
      return super.createJob(data, jobId);
    } catch {
      return this.#createJobWith(UNREADABLE, data, jobId);
    }
  }

  /** A job whose data is not read. */
  #createJobWith(standIn: GiantData | typeof UNREADABLE, data: JobJson, jobId: string): Job<unknown, JobEnd> {
    const job = super.createJob({ ...data, data: "null" }, jobId);
    job.data = standIn;
    return job;
  }

  /** Null also where Redis refuses or does not answer: the jobs that hold the slots meet the same, and end with it. */
  async #fetchBeside(): Promise<Job<unknown, JobEnd> | null> {
    if (this.isPaused() || this.closing !== undefined) return null;
    this.#takenBeside += 1;
    const token = `${this.id}:beside:${this.#takenBeside}`;
    try {
      const [data, id] = (await this.#firstPriority.moveToActive(token)) as unknown as NextJob;
      return data ? await this.nextJobFromJobData(data, id, token) : null;
    } catch (error) {
      this.#onError(error);
      await this.#calmDown(error);
      return null;
    }
  }

  async #processBeside(job: Job<unknown, JobEnd>): Promise<void> {
    try {
      await this.processJob(job, job.token ?? "", () => false);
    } catch (error) {
      this.#onError(error);
    }
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<unknown, JobEnd>> {
    try {
      const job = await super.moveToActive(token, name);
      this.#lastActivityMs = performance.now();
      this.#refusal = null;
      return job;
    } catch (error) {
      if (!stumbled(error)) this.#refusal = unavailable(error).code;
      await this.#calmDown(error);
      throw error;
    }
  }

  /** Before the next fetch. What a single job is guilty of is mended, and says nothing about Redis. */
  async #calmDown(failure: unknown): Promise<void> {
    if (stumbled(failure)) await this.#mend();
    await sleep(COOL_DOWN_MS, undefined, { signal: this.#cooling.signal }).catch(() => undefined);
  }

  protected override async handleCompleted(
    end: JobEnd,
    job: Job<unknown, JobEnd>,
    token: string,
    mayFetchNext: () => boolean = () => true,
  ): Promise<Job<unknown, JobEnd>> {
    this.#writes.corkThisTurn();
    switch (end.kind) {
      case "completed":
        return super.handleCompleted(end, job, token, mayFetchNext);
      case "unusable":
        if (job.data instanceof GiantData) await job.updateData(job.data.summary()).catch(this.#onError);
        return super.handleFailed(new UnrecoverableError(end.reason), job, token, mayFetchNext);
      case "delayed":
        return this.#stepBack(job, { token, delayMs: end.delayMs, fetchNext: mayFetchNext() });
    }
  }

  /** Reached only when writing an end failed, since the processor never rejects. The job is left to come again. */
  protected override async handleFailed(error: Error): Promise<Job<unknown, JobEnd>> {
    this.#onError(error);
    if (stumbled(error)) await this.#mend();
    return NO_NEXT_JOB;
  }

  async #stepBack(
    job: Job<unknown, JobEnd>,
    step: { readonly token: string; readonly delayMs: number; readonly fetchNext: boolean },
  ): Promise<Job<unknown, JobEnd>> {
    const next = (await this.getBackend().moveToDelayed(
      job.id ?? "",
      Date.now(),
      Math.max(0, Math.round(step.delayMs)),
      step.token,
      {
        skipAttempt: true,
        fetchNext: step.fetchNext && this.closing === undefined && !this.isPaused(),
      },
    )) as NextJob | undefined;
    const [data, id] = next ?? [];
    return data ? this.nextJobFromJobData(data, id, step.token) : NO_NEXT_JOB;
  }
}

/** What BullMQ's scripts answer: the next job, if they fetched one. */
type NextJob = readonly [data: JobJson | null, id: string];

/** BullMQ's types leave out that its steps may come back without a job. */
const NO_NEXT_JOB = undefined as unknown as Job<unknown, JobEnd>;
