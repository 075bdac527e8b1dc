import { hotStory, trafficOf } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import { WARMING } from "./alike.ts";
import type { Live } from "./live.ts";
import { workedOff } from "./working-off.ts";

export interface WarmingOptions {
  /** Events of the first portion, and the most of any other. 0 for a cold process. */
  readonly events: number;
  /** The most portions; with 1 exactly `events` are worked off. */
  readonly portions: number;
  readonly signal: AbortSignal;
}

/**
 * Orders with few events each and one order with many, portion by portion and in turn, so that both ways through a contender get
 * warm. Who is done with one soon gets the next, for the compiler to settle: a process that runs for days pays for that once.
 * Some are slow at one order: its portions begin small, and whoever took long for one gets no more.
 */
export async function warm(
  live: Pick<Live, "contender" | "carrier" | "trees">,
  { events, portions, signal }: WarmingOptions,
): Promise<void> {
  if (events === 0) return;
  const enoughMs = performance.now() + WARMING.enoughMs;
  for (let portion = 0; portion < portions; portion += 1) {
    const startedMs = performance.now();
    const some = portionOf(portion, events);
    await live.carrier.publish(some);
    const { left, atMs } = await workedOff(live, { withinMs: WARMING.withinMs, signal });
    if (left > 0) {
      throw new Error(`${live.contender.name} left ${left} of ${some.length} events that were to warm it up`);
    }
    if (atMs - startedMs > WARMING.soonMs || atMs > enoughMs) return;
  }
}

function portionOf(portion: number, events: number): readonly EventEnvelope[] {
  const lcidPrefix = `WARM-${portion}-`;
  if (portion % 2 === 0) {
    return trafficOf({ orders: 200, events, skew: "zipf", exponent: 0.7, seed: 1, lcidPrefix });
  }
  const share = Math.min(1, WARMING.firstHotShare * 2 ** ((portion - 1) / 2));
  return hotStory({ lcid: `${lcidPrefix}HOT`, events: Math.ceil(events * share), seed: 1 });
}
