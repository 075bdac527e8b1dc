import { setTimeout as pause } from "node:timers/promises";
import type { LaneReport, Lanes } from "@junban/handoff-lock";

/** A lane whose head does not move. */
export interface StandingLane {
  readonly lcid: string;
  readonly depth: number;
  /** How long its head has stood in line, in milliseconds. */
  readonly headAgeMs: number;
}

/** Lanes that do not move, however many others do. */
export interface StandingLanes {
  readonly count: number;
  /** Whether other lanes in which something waits do move. */
  readonly doOthersMove: boolean;
  /** Those that have stood longest, up to `shown`. */
  readonly longest: readonly StandingLane[];
}

/** A lane that is served has another head after so long, however deep it is. */
const LOOK_AGAIN_AFTER_MS = 1_000;
const LANES_AT_ONCE = 100;
/** Heads whose age is looked at: with each comes its event. */
const HEADS_LOOKED_AT = 1_000;

/**
 * Which of the given lanes have the same head at a second look, and have had it for longer than `olderThanMs`. A deep lane whose
 * requests are old because there are so many of them is none of these.
 */
export async function readStandingLanes(
  lanes: Lanes,
  seen: readonly LaneReport[],
  { olderThanMs, shown }: { readonly olderThanMs: number; readonly shown: number },
): Promise<StandingLanes> {
  const waiting = seen.filter(({ headKey }) => headKey !== null);
  if (waiting.length > 0) await pause(LOOK_AGAIN_AFTER_MS);
  const still: LaneReport[] = [];
  for (let start = 0; start < waiting.length; start += LANES_AT_ONCE) {
    const some = waiting.slice(start, start + LANES_AT_ONCE);
    const again = await Promise.all(some.map(({ lcid }) => lanes.inspect(lcid)));
    still.push(...again.filter(({ headKey }, index) => headKey === some[index]?.headKey));
  }
  const standing: StandingLane[] = [];
  for (const { lcid, depth } of still.slice(0, HEADS_LOOKED_AT)) {
    const { line } = await lanes.show(lcid, { limit: 1 });
    const headAgeMs = Date.now() - (line[0]?.publishedAtMs ?? Number.POSITIVE_INFINITY);
    if (headAgeMs > olderThanMs) standing.push({ lcid, depth, headAgeMs });
  }
  return {
    count: standing.length,
    doOthersMove: still.length < waiting.length,
    longest: standing.toSorted((left, right) => right.headAgeMs - left.headAgeMs).slice(0, shown),
  };
}
