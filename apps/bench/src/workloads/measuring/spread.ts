import { median, percentile } from "../../rounds/statistics.ts";

/** How long events took from publishing to their decision. */
export interface Spread {
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export function spreadOf(
  decisions: readonly { readonly publishedAtMs: number; readonly decidedAtMs: number }[],
): Spread {
  const tookMs = decisions.map(({ publishedAtMs, decidedAtMs }) => decidedAtMs - publishedAtMs);
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
