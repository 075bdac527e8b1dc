import type { EventEnvelope } from "@junban/orders";
import { identityOf } from "../../rounds/judging.ts";
import type { Decision } from "../../rounds/live.ts";
import { median, percentile } from "../../rounds/statistics.ts";
import type { Offer } from "./pacing.ts";

/** How long events took from publishing to their decision. */
export interface Spread {
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/**
 * From the moment each event was offered, by the clock of the bench, to its decision, by that of Postgres on the same machine:
 * for everybody alike, and whatever a contender itself takes for the time of publication.
 */
export function tookMsOf(
  events: readonly EventEnvelope[],
  { sinceMs }: Pick<Offer, "sinceMs">,
  decisions: readonly Decision[],
): readonly number[] {
  const since = new Map(events.map((event, index) => [identityOf(event), sinceMs[index] ?? Number.NaN]));
  return decisions.map((decision) =>
    // The server tells whole milliseconds.
    Math.max(0, decision.decidedAtMs - (since.get(identityOf(decision)) ?? Number.NaN)),
  );
}

export function spreadOf(tookMs: readonly number[]): Spread {
  return {
    p50Ms: percentile(tookMs, 50),
    p90Ms: percentile(tookMs, 90),
    p99Ms: percentile(tookMs, 99),
    maxMs: percentile(tookMs, 100),
  };
}

/** Each figure's median of the rounds, by itself. */
export function medianSpread(rounds: readonly Spread[]): Spread {
  return {
    p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
    p90Ms: median(rounds.map(({ p90Ms }) => p90Ms)),
    p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
    maxMs: median(rounds.map(({ maxMs }) => maxMs)),
  };
}
