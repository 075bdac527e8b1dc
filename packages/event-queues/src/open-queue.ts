import { Queue } from "bullmq";
import type { Redis } from "ioredis";

/**
 * BullMQ's handle on one queue, over a connection that the caller owns.
 *
 * It asks Redis nothing when it is made: one that did would stay broken for good when its first question met an outage.
 */
export function openQueue(
  client: Redis,
  { prefix, queueName }: { readonly prefix: string; readonly queueName: string },
): Queue<unknown> {
  const queue: Queue<unknown> = new Queue(queueName, {
    connection: client,
    prefix,
    skipVersionCheck: true,
    skipWaitingForReady: true,
    skipMetasUpdate: true,
  });
  // The connection's owner hears of its errors; an emitter without a listener would throw them.
  return queue.on("error", () => undefined);
}
