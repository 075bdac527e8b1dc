import { FAMILIES } from "@junban/orders";
import { answeringSettings, openConnection } from "./connection.ts";
import type { RedisAddress } from "./connection.ts";
import { QUEUE_PREFIX, queueNameOf } from "./names.ts";
import { openQueue } from "./open-queue.ts";
import type { EventQueue } from "./open-queue.ts";
import { UPDATES_QUEUE } from "./update-names.ts";

export interface RawQueues {
  /** BullMQ's own handles: the four families and the relay's queue of updates. */
  readonly queues: readonly EventQueue[];
  close(): void;
}

/**
 * The queues as BullMQ knows them, for tools that show queues and know nothing of orders. Nothing that belongs to an order's
 * history is found there, and no order is kept by what is done there.
 */
export function openRawQueues({
  redis,
  prefix = QUEUE_PREFIX,
  timeoutMs = 5_000,
}: {
  readonly redis: RedisAddress;
  readonly prefix?: string;
  /** Longest wait for a connection. Default 5,000. */
  readonly timeoutMs?: number;
}): RawQueues {
  const client = openConnection(redis, answeringSettings({ timeoutMs }));
  // Each question answers for itself.
  client.on("error", () => undefined);
  const names = [...FAMILIES.map((family) => queueNameOf(family)), UPDATES_QUEUE];
  return {
    queues: names.map((queueName) => openQueue(client, { prefix, queueName })),
    close: () => client.disconnect(),
  };
}
