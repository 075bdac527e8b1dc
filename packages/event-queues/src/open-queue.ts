import { Queue } from "bullmq";
import type { Redis } from "ioredis";

export type EventQueue = Queue<unknown>;

/**
 * BullMQ's handle on a queue, over a connection that the caller owns.
 *
 * It asks Redis nothing when it is made: one that did would stay broken for good when its first question met an outage.
 */
export function openQueue(
  client: Redis,
  { prefix, queueName }: { readonly prefix: string; readonly queueName: string },
): EventQueue {
  const queue: EventQueue = new Queue(queueName, {
    connection: client,
    prefix,
    skipVersionCheck: true,
    skipWaitingForReady: true,
    skipMetasUpdate: true,
  });
  // The connection's owner hears of its errors; an emitter without a listener would throw them.
  return queue.on("error", () => undefined);
}
