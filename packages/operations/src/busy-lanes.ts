import type { LaneReport, Lanes } from "@junban/handoff-lock";

/** Lanes in which requests stand or which somebody holds. */
export interface BusyLanes {
  readonly busy: number;
  /** True when there are more lanes than were looked at, so that deeper ones may have been missed. */
  readonly more: boolean;
  readonly requests: number;
  /** The deepest first. */
  readonly deepest: readonly LaneReport[];
  /** Those whose holders vanished, most often first. */
  readonly losing: readonly LaneReport[];
}

/** Lanes looked at: finding the deepest means looking at each, and a look should end. */
const LANES_LOOKED_AT = 10_000;

/** How many turns in a row ended by their lease: the one that goes on is not lost yet. */
export function turnsLost({ tries, holder }: LaneReport): number {
  return Math.max(0, tries - Number(holder !== null));
}

/** The `shown` deepest of the busy lanes, and of those that lose turns, among the first 10,000 lanes found. */
export async function readBusyLanes(lanes: Lanes, { shown }: { readonly shown: number }): Promise<BusyLanes> {
  return summed(await lookAtLanes(lanes), { shown });
}

/** Lanes that are busy, and whether there are more than were looked at. */
export interface LanesSeen {
  readonly busy: readonly LaneReport[];
  readonly more: boolean;
}

export async function lookAtLanes(lanes: Lanes): Promise<LanesSeen> {
  const busy: LaneReport[] = [];
  let seen = 0;
  for await (const lcids of lanes.scan()) {
    seen += lcids.length;
    const reports = await Promise.all(lcids.map((lcid) => lanes.inspect(lcid)));
    busy.push(...reports.filter(({ depth, holder }) => depth > 0 || holder !== null));
    if (seen >= LANES_LOOKED_AT) break;
  }
  return { busy, more: seen >= LANES_LOOKED_AT };
}

function summed({ busy, more }: LanesSeen, { shown }: { readonly shown: number }): BusyLanes {
  return {
    busy: busy.length,
    more,
    requests: busy.reduce((total, { depth }) => total + depth, 0),
    deepest: busy.toSorted((left, right) => right.depth - left.depth).slice(0, shown),
    losing: losingOf(busy, { shown }),
  };
}

/** Those whose holders vanished, most often first. */
export function losingOf(
  busy: readonly LaneReport[],
  { shown }: { readonly shown: number },
): readonly LaneReport[] {
  return busy
    .filter((lane) => turnsLost(lane) > 0)
    .toSorted((left, right) => turnsLost(right) - turnsLost(left))
    .slice(0, shown);
}
