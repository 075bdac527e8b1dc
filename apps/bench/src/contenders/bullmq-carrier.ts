import { FAMILY_QUEUES } from "@junban/event-queues";
import { FAMILIES, familyOf, type EventEnvelope } from "@junban/orders";
import { Queue } from "bullmq";
import type { Carrier, Ground } from "./contender.ts";

const PUBLISHED_AT_ONCE = 2_000;

/** The producer's end of BullMQ alone: the same four queues as the fleet's, without lanes. */
export async function openFamilyQueues({ redisUrl, prefix }: Ground): Promise<Carrier> {
  const connection = { url: redisUrl, maxRetriesPerRequest: null };
  const queues = FAMILIES.map((family) => ({
    family,
    queue: new Queue(FAMILY_QUEUES[family], { connection, prefix }),
  }));
  await Promise.all(queues.map(async ({ queue }) => queue.waitUntilReady()));
  return {
    publish: async (events: readonly EventEnvelope[]) => {
      for (let start = 0; start < events.length; start += PUBLISHED_AT_ONCE) {
        const some = events.slice(start, start + PUBLISHED_AT_ONCE);
        await Promise.all(
          queues.map(async ({ family, queue }) =>
            queue.addBulk(
              some
                .filter(({ type }) => familyOf(type) === family)
                .map((event) => ({ name: event.type, data: event })),
            ),
          ),
        );
      }
    },
    left: async () => {
      const counts = await Promise.all(
        queues.map(async ({ queue }) =>
          queue.getJobCountByTypes("waiting", "active", "delayed", "prioritized"),
        ),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
    close: async () => {
      await Promise.all(queues.map(async ({ queue }) => queue.close()));
    },
  };
}
