import type { FamilyCounts } from "@junban/event-queues";
import type { StoreGauges, StorePulse } from "@junban/order-store";
import type { Family } from "@junban/orders";
import { readBusyLanes, type BusyLanes } from "./busy-lanes.ts";
import type { Fleet } from "./fleet.ts";

/** What was read, or why it could not be: one service away takes only its own part of a picture with it. */
export type Answer<Value> =
  | { readonly kind: "known"; readonly value: Value }
  | { readonly kind: "unknown"; readonly error: Error };

export interface QueuesNow {
  /** Worker processes that are connected to Redis; null where Redis does not tell. */
  readonly workers: number | null;
  /** False when no queue was ever used under the prefix: it may be another fleet's, or mistyped. */
  readonly isUsed: boolean;
  readonly prefix: string;
  readonly backlog: Readonly<Record<Family, FamilyCounts>>;
  /** Families whose queue somebody paused. */
  readonly paused: readonly Family[];
}

/** What may be looked at every few seconds, however much is stored. */
export interface Glance {
  readonly atMs: number;
  readonly queues: Answer<QueuesNow>;
  readonly lanes: Answer<BusyLanes>;
  readonly store: Answer<StoreGauges & StorePulse>;
}

const DEEPEST_SHOWN = 8;

/** Never rejects. @param after a number from an earlier look, for what was decided since. */
export async function readGlance(
  { queues, lanes, store }: Fleet,
  { after = null }: { readonly after?: number | null } = {},
): Promise<Glance> {
  const [queuesNow, lanesNow, storeNow] = await Promise.all([
    answerTo(async () => {
      const [workers, isUsed, backlog, paused] = await Promise.all([
        queues.workers(),
        queues.isUsed(),
        queues.counts(),
        queues.paused(),
      ]);
      return { prefix: queues.prefix, workers, isUsed, backlog, paused };
    }),
    answerTo(() => readBusyLanes(lanes, { shown: DEEPEST_SHOWN })),
    answerTo(async () => {
      const [gauges, pulse] = await Promise.all([store.gauges(), store.pulse({ after })]);
      return { ...gauges, ...pulse };
    }),
  ]);
  return { atMs: Date.now(), queues: queuesNow, lanes: lanesNow, store: storeNow };
}

/** Asks, and keeps what went wrong as a value. */
export async function answerTo<Value>(ask: () => Promise<Value>): Promise<Answer<Value>> {
  try {
    return { kind: "known", value: await ask() };
  } catch (error) {
    return { kind: "unknown", error: error instanceof Error ? error : new Error(String(error)) };
  }
}
