import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { lastingSettings, openConnection, within } from "./connection.ts";
import type { RedisAddress } from "./connection.ts";
import { ErrorReports } from "./error-reports.ts";
import type { JobEnd } from "./job.ts";
import { QUEUE_PREFIX } from "./names.ts";
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
  /** Told once per outage and kind of trouble. */
  onError(error: Error): void;
}

export interface UpdatesConsumer {
  /** Stops fetching and waits for running processors, at most until `deadlineMs` from now. */
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

const START_MS = 10_000;
const KEEP_FAILED = 1_000;

/**
 * Subscribes a name and consumes its updates. A BullMQ queue hands each job to one taker, so whoever takes a job from the
 * relay's queue copies it to the queue of every subscribed name before it ends: at least once, like all else here.
 *
 * @throws {QueueUnavailableError} when Redis did not take the subscription within ten seconds.
 */
export async function consumeUpdates(options: ConsumeUpdatesOptions): Promise<UpdatesConsumer> {
  const { redis, prefix = QUEUE_PREFIX, name, concurrency, lockDurationMs } = options;
  const reports = new ErrorReports((error) => options.onError(error));
  const client = openConnection(redis, { ...lastingSettings(), socketTimeout: lockDurationMs });
  client.on("error", (error) => reports.add(error)).on("ready", () => reports.connected());
  try {
    await within(client.sadd(updateNamesKey(prefix), name), START_MS);
  } catch (error) {
    client.disconnect();
    throw error;
  }
  const shared = { redis, prefix, client, lockDurationMs, keepFailed: KEEP_FAILED };
  const queueName = updatesQueueOf(name);
  const own = new QueueWorker(
    { ...shared, queueName, concurrency, process: async (job) => options.process(job) },
    reports,
  );
  const copier = new UpdateCopier(client, { prefix });
  // One at a time: copies keep the order of the relay as far as one process sees it.
  const incoming = new QueueWorker(
    { ...shared, queueName: UPDATES_QUEUE, concurrency: 1, process: async (job) => copier.copy(job) },
    reports,
  );
  return {
    close: async (limit) => {
      await Promise.all([incoming.close(limit), own.close(limit)]);
      client.disconnect();
    },
  };
}

/** Ends a name's subscription and deletes what waits for it. Its consumers must be closed before. */
export async function unsubscribeUpdates(options: {
  readonly redis: RedisAddress;
  readonly prefix?: string;
  readonly name: string;
}): Promise<void> {
  const { redis, prefix = QUEUE_PREFIX, name } = options;
  const client = openConnection(redis, lastingSettings());
  client.on("error", () => undefined);
  try {
    await within(client.srem(updateNamesKey(prefix), name), START_MS);
    await within(openUpdatesQueue(client, { prefix, name }).obliterate({ force: true }), START_MS);
  } finally {
    client.disconnect();
  }
}

class UpdateCopier {
  readonly #client: Redis;
  readonly #prefix: string;
  readonly #queues = new Map<string, Queue<unknown>>();

  constructor(client: Redis, { prefix }: { readonly prefix: string }) {
    this.#client = client;
    this.#prefix = prefix;
  }

  async copy({ data }: QueuedUpdate): Promise<JobEnd> {
    const names = await this.#client.smembers(updateNamesKey(this.#prefix));
    // Without ids of their own: a second copy is skipped by its version, an id could swallow a copy that is wanted.
    await Promise.all(names.map(async (name) => this.#queueOf(name).add("order-update", data)));
    return { kind: "completed" };
  }

  #queueOf(name: string): Queue<unknown> {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const queue = openUpdatesQueue(this.#client, { prefix: this.#prefix, name });
    this.#queues.set(name, queue);
    return queue;
  }
}

function openUpdatesQueue(
  client: Redis,
  { prefix, name }: { readonly prefix: string; readonly name: string },
): Queue<unknown> {
  const queue: Queue<unknown> = new Queue(updatesQueueOf(name), {
    connection: client,
    prefix,
    skipVersionCheck: true,
    skipWaitingForReady: true,
    skipMetasUpdate: true,
  });
  // The connection's owner hears of its errors; an emitter without a listener would throw them.
  return queue.on("error", () => undefined);
}
