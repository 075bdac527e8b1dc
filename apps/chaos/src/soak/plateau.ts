import type { Vitals } from "./vitals.ts";

/** One thing that must not grow for ever. */
export interface Series {
  readonly name: string;
  readonly unit: string;
  readonly of: (vitals: Vitals) => number | null;
  /** Growth within this much, in the unit, is noise whatever its share. */
  readonly noise: number;
}

const MIB = 1_048_576;

export const SERIES: readonly Series[] = [
  { name: "memory of a worker", unit: "MiB", of: ({ workerBytes }) => mib(workerBytes), noise: 16 },
  { name: "memory of Redis", unit: "MiB", of: ({ redisBytes }) => mib(redisBytes), noise: 2 },
  { name: "connections to Redis", unit: "", of: ({ redisClients }) => redisClients, noise: 6 },
  { name: "sessions in Postgres", unit: "", of: ({ postgresSessions }) => postgresSessions, noise: 6 },
  { name: "keys of lanes", unit: "", of: ({ laneKeys }) => laneKeys, noise: 100 },
  { name: "keys of queues", unit: "", of: ({ queueKeys }) => queueKeys, noise: 100 },
  { name: "dead rows", unit: "%", of: ({ deadShare }) => 100 * deadShare, noise: 5 },
  { name: "bytes a row", unit: "B", of: ({ bytesPerRow }) => bytesPerRow, noise: 100 },
  { name: "multixacts", unit: "", of: ({ multixacts }) => multixacts, noise: 100 },
];

export interface Levelling {
  readonly name: string;
  readonly unit: string;
  /** Medians of the second and of the last quarter of the run. */
  readonly before: number;
  readonly after: number;
  readonly isLevel: boolean;
}

/** Beyond its noise a series may end so much above the level it had before. */
const MOST_GROWTH = 1.2;
/** Below that a run has no quarters worth comparing. */
const LEAST_LOOKS = 40;

/**
 * Whether each series has levelled off: the median of the last quarter against that of the second, the first being the
 * warm-up. Null when the run was too short to tell.
 */
export function levelOf(looks: readonly Vitals[]): readonly Levelling[] | null {
  if (looks.length < LEAST_LOOKS) return null;
  const quarter = Math.floor(looks.length / 4);
  return SERIES.flatMap(({ name, unit, of, noise }) => {
    const before = median(looks.slice(quarter, 2 * quarter).flatMap((look) => of(look) ?? []));
    const after = median(looks.slice(-quarter).flatMap((look) => of(look) ?? []));
    if (before === null || after === null) return [];
    return [{ name, unit, before, after, isLevel: after <= Math.max(before * MOST_GROWTH, before + noise) }];
  });
}

function mib(bytes: number | null): number | null {
  return bytes === null ? null : bytes / MIB;
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
