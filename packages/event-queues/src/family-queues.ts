import { FAMILIES } from "@junban/orders";
import type { Family } from "@junban/orders";
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { queueNameOf } from "./names.ts";

export type EventQueue = Queue<unknown>;
export type FamilyQueues = Readonly<Record<Family, EventQueue>>;

/**
 * BullMQ's handle on each family's queue, over one connection that the caller owns.
 *
 * A handle asks Redis nothing when it is made: one that did would stay broken for good when its first question met an
 * outage.
 */
export function openFamilyQueues(client: Redis, { prefix }: { readonly prefix: string }): FamilyQueues {
  const open = (family: Family): [Family, EventQueue] => {
    const queue: EventQueue = new Queue(queueNameOf(family), {
      connection: client,
      prefix,
      skipVersionCheck: true,
      skipWaitingForReady: true,
      skipMetasUpdate: true,
    });
    // The connection's owner hears of its errors; an emitter without a listener would throw them.
    return [family, queue.on("error", () => undefined)];
  };
  return Object.fromEntries(FAMILIES.map(open)) as FamilyQueues;
}
