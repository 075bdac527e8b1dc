import { setTimeout as pause } from "node:timers/promises";
import type { EventEnvelope } from "@junban/orders";
import type { Carrier } from "../../contenders/contender.ts";

const TICK_MS = 5;

/** How many of the events are due so long after the first one. */
export function dueAfter(
  elapsedMs: number,
  { perSecond, total }: { perSecond: number; total: number },
): number {
  return Math.min(total, Math.floor((elapsedMs * perSecond) / 1_000) + 1);
}

/**
 * Publishes the events at a steady pace, whatever becomes of them, and answers the pace that was kept. One call is under way at
 * a time, or a carrier might change their order; what falls due meanwhile goes with the next call.
 */
export async function offer(
  carrier: Pick<Carrier, "publish">,
  events: readonly EventEnvelope[],
  { perSecond, signal }: { perSecond: number; signal: AbortSignal },
): Promise<number> {
  const startedMs = performance.now();
  let offered = 0;
  while (offered < events.length) {
    const due = dueAfter(performance.now() - startedMs, { perSecond, total: events.length });
    if (due === offered) {
      await pause(TICK_MS, undefined, { signal });
    } else {
      signal.throwIfAborted();
      await carrier.publish(events.slice(offered, due));
      offered = due;
    }
  }
  // The first one came at once, so that n events last as long as n − 1 gaps.
  const seconds = (performance.now() - startedMs) / 1_000;
  return Math.min(perSecond, Math.max(1, events.length - 1) / seconds);
}
