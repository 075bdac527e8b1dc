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

/** Puts jobs where the relay puts them, as it does. */
export function lastingRelay({ url, prefix }: { readonly url: string; readonly prefix: string }): Relay {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue(UPDATES_QUEUE, { connection, prefix });
  onTestFinished(async () => {
    await queue.close();
    connection.disconnect();
  });
  return {
    send: async (lcid, ...versions) => {
      for (const version of versions) await queue.add("order-update", { lcid, version, status: "open" });
    },
    sendRaw: async (data) => {
      await queue.add("order-update", data);
    },
    left: async (name = "billing") => {
      const own = new Queue(`{order-updates.${name}}`, { connection, prefix });
      const counts = await Promise.all(
        [queue, own].map(async (one) => one.getJobCountByTypes("wait", "active", "delayed", "failed")),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}
