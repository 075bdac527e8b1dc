import { UPDATES_QUEUE } from "@junban/event-queues";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { onTestFinished } from "vitest";

export interface Relay {
  /** Sends notices of these versions, in the given order. */
  send(lcid: string, ...versions: readonly number[]): Promise<void>;
  sendRaw(data: unknown): Promise<void>;
  /** Jobs of the relay's queue and of one name's that have not ended well. */
  left(name?: string): Promise<number>;
}

/** Puts jobs where the relay puts them, but without its ids, under which a repeat could be swallowed before it is a repeat. */
export function lastingRelay({ url, prefix }: { readonly url: string; readonly prefix: string }): Relay {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  connection.on("error", () => undefined);
  const open = (name: string): Queue => {
    const queue = new Queue(name, { connection, prefix });
    return queue.on("error", () => undefined);
  };
  const queue = open(UPDATES_QUEUE);
  // Closing a queue could wait for a server that the test has ended.
  onTestFinished(() => connection.disconnect());
  return {
    send: async (lcid, ...versions) => {
      const event = { source: "/shop", id: "evt-1", type: "order.placed" };
      const order = { status: "placed", payableMinor: 1200 };
      for (const version of versions) await queue.add(event.type, { lcid, version, event, order });
    },
    sendRaw: async (data) => {
      await queue.add("order-update", data);
    },
    left: async (name = "billing") => {
      const own = open(`{order-updates.${name}}`);
      const counts = await Promise.all(
        [queue, own].map(async (one) => one.getJobCountByTypes("wait", "active", "delayed", "failed")),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}
