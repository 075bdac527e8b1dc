import { createQueueReader } from "@junban/event-queues";
import { createLanes } from "@junban/handoff-lock";
import type { Fleet } from "@junban/operations";
import { createOrderStore } from "@junban/order-store";
import { onTestFinished } from "vitest";
import { freshDatabase, freshRedis } from "../support/index.ts";

/** A fleet of the test's own, without a worker; closed when the test is over. */
export interface TestFleet extends Fleet {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly prefix: string;
}

export async function openFleet({ databaseUrl }: { readonly databaseUrl?: string } = {}): Promise<TestFleet> {
  const address = databaseUrl ?? (await freshDatabase());
  const fresh = freshRedis();
  const { url: redisUrl, prefix } = fresh;
  const store = createOrderStore({ databaseUrl: address, worker: "test" });
  const lanes = createLanes({ redis: fresh.connect(), prefix });
  const queues = createQueueReader({ redis: redisUrl, prefix });
  onTestFinished(async () => {
    await Promise.all([store.close(), lanes.close(), queues.close()]);
  });
  return { store, lanes, queues, databaseUrl: address, redisUrl, prefix };
}
