import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { connectedConsumers } from "./connected-consumers.ts";
import { answeringSettings, openConnection, unavailable, whenReady, within } from "./connection.ts";
import type { RedisAddress } from "./connection.ts";
import { QUEUE_PREFIX, connectionPrefixOf } from "./names.ts";
import { openQueue } from "./open-queue.ts";
import { UPDATES_QUEUE, updateNamesKey, updatesQueueOf } from "./update-names.ts";

export interface UpdateCountsOfQueue {
  /** Updates that have not ended, those under way and those put back included. */
  readonly waiting: number;
  /** Jobs that hold no usable update and were kept. */
  readonly failed: number;
  /** Processes that wait for its updates at this moment; null when Redis does not tell who is connected. */
  readonly consumers: number | null;
}

export interface UpdateBacklog {
  /** What the relay sent and nobody has copied yet. It grows while no consumer of any name runs. */
  readonly incoming: UpdateCountsOfQueue;
  /** Each subscribed name, by the alphabet. One that nobody serves grows until it is served or its subscription ends. */
  readonly names: readonly ({ readonly name: string } & UpdateCountsOfQueue)[];
}

/** @throws {QueueUnavailableError} when Redis does not answer within `timeoutMs`, default 5,000. */
export async function readUpdateBacklog(options: {
  readonly redis: RedisAddress;
  readonly prefix?: string;
  readonly timeoutMs?: number;
}): Promise<UpdateBacklog> {
  const { redis, prefix = QUEUE_PREFIX, timeoutMs = 5_000 } = options;
  const client = openConnection(redis, answeringSettings({ timeoutMs }));
  client.on("error", () => undefined);
  try {
    await whenReady(client, { withinMs: timeoutMs });
    return await within(backlogOf(client, prefix), timeoutMs);
  } catch (error) {
    throw unavailable(error);
  } finally {
    client.disconnect();
  }
}

/** The same over a connection that the caller owns. */
export async function backlogOf(client: Redis, prefix: string): Promise<UpdateBacklog> {
  const [members, connected] = await Promise.all([
    client.smembers(updateNamesKey(prefix)),
    connectedConsumers(client),
  ]);
  const names = members.toSorted();
  const count = async (queueName: string): Promise<UpdateCountsOfQueue> => ({
    ...(await countsOf(openQueue(client, { prefix, queueName }))),
    consumers: connected?.startingWith(connectionPrefixOf({ prefix, queueName })).length ?? null,
  });
  const [incoming, ...counted] = await Promise.all([
    count(UPDATES_QUEUE),
    ...names.map(async (name) => ({ name, ...(await count(updatesQueueOf(name))) })),
  ]);
  return { incoming, names: counted };
}

async function countsOf(queue: Queue<unknown>): Promise<Omit<UpdateCountsOfQueue, "consumers">> {
  const counts = await queue.getJobCounts("waiting", "active", "delayed", "failed");
  const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
  return { waiting: waiting + active + delayed, failed };
}
