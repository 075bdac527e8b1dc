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

/** What was offered, and when. */
export interface Offer {
  /** The pace that was kept. */
  readonly perSecond: number;
  /**
   * For each event the moment from which its carrier may be held to account, on the clock of `Date.now()`: when it was handed
   * over, or, if a call for earlier events was still under way when it fell due, the moment it fell due.
   */
  readonly sinceMs: readonly number[];
}

/**
 * Publishes the events at a steady pace, whatever becomes of them. One call is under way at a time, or a carrier might change
 * their order; what falls due meanwhile goes with the next call, and that it had to wait is counted as the carrier's time.
 */
export async function offer(
  carrier: Pick<Carrier, "publish">,
  events: readonly EventEnvelope[],
  { perSecond, signal }: { perSecond: number; signal: AbortSignal },
): Promise<Offer> {
  const startedMs = performance.now();
  const clockMs = Date.now() - startedMs;
  const sinceMs: number[] = [];
  let freeMs = startedMs;
  while (sinceMs.length < events.length) {
    const offered = sinceMs.length;
    const handedMs = performance.now();
    const due = dueAfter(handedMs - startedMs, { perSecond, total: events.length });
    if (due === offered) {
      await pause(TICK_MS, undefined, { signal });
      continue;
    }
    signal.throwIfAborted();
    for (let index = offered; index < due; index += 1) {
      const dueMs = startedMs + (index / perSecond) * 1_000;
      sinceMs.push(clockMs + (dueMs < freeMs ? dueMs : handedMs));
    }
    await carrier.publish(events.slice(offered, due));
    freeMs = performance.now();
  }
  // The first one came at once, so that n events last as long as n − 1 gaps.
  const seconds = (performance.now() - startedMs) / 1_000;
  return { perSecond: Math.min(perSecond, Math.max(1, events.length - 1) / seconds), sinceMs };
}
