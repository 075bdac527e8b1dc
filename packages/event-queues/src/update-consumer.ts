import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { lastingSettings, openConnection, unavailable, within } from "./connection.ts";
import type { RedisAddress } from "./connection.ts";
import { ErrorReports } from "./error-reports.ts";
import type { JobEnd } from "./job.ts";
import { QUEUE_PREFIX } from "./names.ts";
import { openQueue } from "./open-queue.ts";
import { QueueWorker } from "./queue-worker.ts";
import type { QueuedUpdate } from "./queue-worker.ts";
import { UPDATES_QUEUE, updateNamesKey, updatesQueueOf } from "./update-names.ts";

export interface ConsumeUpdatesOptions {
  /** A client given here only lends its address. */
  readonly redis: RedisAddress;
  readonly prefix?: string;
  /** Whose updates these are. Consumers of one name share the work; each name gets every update. */
  readonly name: string;
  readonly concurrency: number;
  /** How long a job may go without sign of life before another process gets it. */
  readonly lockDurationMs: number;
  /** Must be idempotent. A rejection counts as `delayed` and is reported. */
  process(job: QueuedUpdate): Promise<JobEnd>;
  /** Told once per outage and kind of trouble, and of every job that is unusable ({@link UnusableUpdateError}). */
  onError(error: Error): void;
}

export interface UpdatesConsumer {
  /** Stops fetching and waits for running processors, at most until `deadlineMs` from now. */
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

const START_MS = 10_000;
const UNSUBSCRIBE_MS = 60_000;
const SHORTEST_SILENCE_MS = 5_000;
const KEEP_FAILED = 1_000;

/**
 * Subscribes a name and consumes its updates. A BullMQ queue hands each job to one taker, so whoever takes a job from the
 * relay's queue copies it to the queue of every subscribed name, and ends it only when each of them has its copy: whoever dies
 * in between leaves the job to be taken and copied once more. At least once, like all else here.
 *
 * @throws {QueueUnavailableError} when Redis did not take the subscription within ten seconds.
 */
export async function consumeUpdates(options: ConsumeUpdatesOptions): Promise<UpdatesConsumer> {
  const { redis, prefix = QUEUE_PREFIX, name, concurrency, lockDurationMs } = options;
  const reports = new ErrorReports((error) => options.onError(error));
  const silenceMs = Math.max(lockDurationMs, SHORTEST_SILENCE_MS);
  const client = openConnection(redis, { ...lastingSettings(), socketTimeout: silenceMs });
  client.on("error", (error) => reports.add(error));
  const subscription = new Subscription(client, { prefix, name });
  try {
    await within(subscription.confirm(), START_MS);
  } catch (error) {
    client.disconnect();
    throw unavailable(error);
  }
  client.on("ready", () => {
    reports.connected();
    // A server that came back may have forgotten who was subscribed.
    subscription.confirm().catch((error: unknown) => reports.add(error));
  });
  const shared = {
    redis,
    prefix,
    client,
    lockDurationMs,
    keepFailed: KEEP_FAILED,
    onUnusable: (error: Error): void => options.onError(error),
  };
  const queueName = updatesQueueOf(name);
  const own = new QueueWorker(
    { ...shared, queueName, concurrency, process: async (job) => options.process(job) },
    reports,
  );
  // One at a time: copies keep the order of the relay as far as one process sees it.
  const incoming = new QueueWorker(
    { ...shared, queueName: UPDATES_QUEUE, concurrency: 1, process: async (job) => subscription.copy(job) },
    reports,
  );
  return {
    close: async (limit) => {
      await Promise.all([incoming.close(limit), own.close(limit)]);
      client.disconnect();
    },
  };
}

/**
 * Ends a name's subscription and deletes what waits for it. Its consumers must be closed before, as one that runs subscribes its
 * name again. Doing it again is harmless, and takes along a copy that was on its way the first time.
 *
 * @throws {QueueUnavailableError} when Redis did not answer within a minute; what was deleted by then stays deleted.
 */
export async function unsubscribeUpdates(options: {
  readonly redis: RedisAddress;
  readonly prefix?: string;
  readonly name: string;
}): Promise<void> {
  const { redis, prefix = QUEUE_PREFIX, name } = options;
  const client = openConnection(redis, lastingSettings());
  client.on("error", () => undefined);
  const queue = openQueue(client, { prefix, queueName: updatesQueueOf(name) });
  try {
    await within(client.srem(updateNamesKey(prefix), name), UNSUBSCRIBE_MS);
    await within(queue.obliterate({ force: true }), UNSUBSCRIBE_MS);
  } catch (error) {
    throw unavailable(error);
  } finally {
    client.disconnect();
  }
}

/** One name among those that are subscribed, and its share of copying for all of them. */
class Subscription {
  readonly #client: Redis;
  readonly #prefix: string;
  readonly #name: string;
  readonly #queues = new Map<string, Queue<unknown>>();

  constructor(client: Redis, { prefix, name }: { readonly prefix: string; readonly name: string }) {
    this.#client = client;
    this.#prefix = prefix;
    this.#name = name;
  }

  async confirm(): Promise<void> {
    await this.#client.sadd(updateNamesKey(this.#prefix), this.#name);
  }

  async copy({ data }: QueuedUpdate): Promise<JobEnd> {
    const subscribed = await this.#client.smembers(updateNamesKey(this.#prefix));
    // Its own name whatever the set says: without any name the job would end with no copy made.
    const names = new Set([this.#name, ...subscribed]);
    // Without ids of their own: a second copy is skipped by its version, an id could swallow a copy that is wanted.
    await Promise.all([...names].map(async (name) => this.#queueOf(name).add("order-update", data)));
    return { kind: "completed" };
  }

  #queueOf(name: string): Queue<unknown> {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const queue = openQueue(this.#client, { prefix: this.#prefix, queueName: updatesQueueOf(name) });
    this.#queues.set(name, queue);
    return queue;
  }
}
