import type { FamilyCounts } from "@junban/event-queues";
import type { StoreSummary } from "@junban/order-store";
import type { Family } from "@junban/orders";
import { readBusyLanes, type BusyLanes } from "./busy-lanes.ts";
import type { Fleet } from "./fleet.ts";

/** The fleet at a glance. */
export interface FleetStatus {
  /** Worker processes that are connected to Redis; null when it does not tell who is. */
  readonly workers: number | null;
  /** False when no queue was ever used under the prefix: it may be another fleet's, or mistyped. */
  readonly isUsed: boolean;
  readonly backlog: Readonly<Record<Family, FamilyCounts>>;
  readonly lanes: BusyLanes;
  readonly store: StoreSummary;
}

const DEEPEST_SHOWN = 5;

export async function readStatus({ queues, store, lanes }: Fleet): Promise<FleetStatus> {
  const [workers, isUsed, backlog, summary, busy] = await Promise.all([
    queues.workers(),
    queues.isUsed(),
    queues.counts(),
    store.summary(),
    readBusyLanes(lanes, { shown: DEEPEST_SHOWN }),
  ]);
  return { workers, isUsed, backlog, lanes: busy, store: summary };
}
