/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return (low + high) / 2;
}

/** The smallest value that at least this share (0…1) of the values does not exceed: one that was really measured. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

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
    p50Ms: percentile(tookMs, 0.5),
    p90Ms: percentile(tookMs, 0.9),
    p99Ms: percentile(tookMs, 0.99),
    maxMs: percentile(tookMs, 1),
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
