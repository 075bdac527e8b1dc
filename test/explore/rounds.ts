import { performance } from "node:perf_hooks";
import type { Exploration, Finding } from "../support/exploration.ts";

export interface RoundsOptions {
  readonly explorations: readonly Exploration[];
  /** Each slice has a seed of its own, which follows from this one. */
  readonly seed: number;
  readonly forMs: number;
  /** Ends everything after the schedule under way. */
  readonly signal: AbortSignal;
  /** Told after each slice. */
  readonly onSlice: (exploration: Exploration, seed: number) => void;
}

export interface Explored {
  readonly ended: "time" | "found" | "stopped";
  readonly finding: Finding | null;
  readonly tookMs: number;
}

/** So many schedules each exploration tries however short the time is; without them it would have said nothing. */
const AT_LEAST = 20;
/** A lane's schedule takes several times as long as any other, so these are slices of about equal length. */
const SCHEDULES_A_SLICE = new Map([["lane", 100]]);
const OTHER_SCHEDULES_A_SLICE = 500;

/** Goes round the explorations, slice by slice, until the time is over, something is found or it is stopped. */
export async function goRound(options: RoundsOptions): Promise<Explored> {
  const { explorations, seed, forMs, signal, onSlice } = options;
  const startedAtMs = performance.now();
  const tookMs = (): number => performance.now() - startedAtMs;
  for (let slice = 0; ; slice += 1) {
    const exploration = explorations[slice % explorations.length]!;
    const isFirst = slice < explorations.length;
    if (!isFirst && tookMs() >= forMs) return { ended: "time", finding: null, tookMs: tookMs() };
    const sliceSeed = seedOf(seed, slice);
    const finding = await exploration.explore({
      seed: sliceSeed,
      schedules: SCHEDULES_A_SLICE.get(exploration.name) ?? OTHER_SCHEDULES_A_SLICE,
      stop: (schedules) => tookMs() >= forMs && !(isFirst && schedules < AT_LEAST),
      signal,
    });
    onSlice(exploration, sliceSeed);
    if (finding !== null) return { ended: "found", finding, tookMs: tookMs() };
    if (signal.aborted) return { ended: "stopped", finding: null, tookMs: tookMs() };
  }
}

/** Steps of an odd number visit all seeds before any of them comes again. */
function seedOf(seed: number, slice: number): number {
  return (seed + Math.imul(slice, 0x9e3779b1)) & 0x7fffffff;
}
