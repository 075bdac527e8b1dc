import { duration, rounded, times } from "./figures.ts";
import { runsOf, type Kept } from "./kept.ts";
import { BACKLOGS, OWN, runOf, type WorkloadName } from "./rows.ts";

/** A figure that was aimed at before anything was measured. */
export interface Target {
  /** Under which `notes.json` says what stands in the way. */
  readonly id: string;
  readonly what: string;
  readonly better: "more" | "less";
  readonly must: number;
  readonly reach: number;
  readonly write: (value: number) => string;
  /** Null when it was not measured. */
  readonly measure: (kept: Kept) => number | null;
}

/** "short" misses even what it must be. */
export type Standing = "reached" | "met" | "short" | "not measured";

export interface Measured {
  readonly target: Target;
  readonly value: number | null;
  readonly standing: Standing;
}

/** Every target against what was measured. */
export function measuredTargets(kept: Kept): readonly Measured[] {
  return TARGETS.map((target) => {
    const value = target.measure(kept);
    return { target, value, standing: standingOf(target, value) };
  });
}

/** Targets short of what was reached for that nobody has said a word about. */
export function unexplained(kept: Kept, notes: Readonly<Record<string, string>>): readonly string[] {
  return measuredTargets(kept)
    .filter(({ target, standing }) => falls(standing) && (notes[target.id] ?? "").trim() === "")
    .map(({ target }) => target.id);
}

/** Whether it asks for a word on what stands in the way. */
export function falls(standing: Standing): boolean {
  return standing === "met" || standing === "short";
}

function standingOf({ better, must, reach }: Target, value: number | null): Standing {
  if (value === null) return "not measured";
  const isWithin = (limit: number): boolean => (better === "more" ? value >= limit : value <= limit);
  if (isWithin(reach)) return "reached";
  return isWithin(must) ? "met" : "short";
}

function ratio(id: string, what: string, limits: readonly [must: number, reach: number]): Target {
  const [workload, peer] = id.split("/") as [WorkloadName, string];
  return {
    id,
    what,
    better: "more",
    must: limits[0],
    reach: limits[1],
    write: times,
    measure: (kept) => ratioOf(kept, workload, peer),
  };
}

function less(
  id: string,
  what: string,
  limits: readonly [must: number, reach: number],
  measure: Target["measure"],
): Target {
  return { id, what, better: "less", must: limits[0], reach: limits[1], write: rounded, measure };
}

/** As performance was aimed at before the first round: what must be, and what is reached for. */
const TARGETS: readonly Target[] = [
  ratio("hot/groupmq", "hot: Junban ÷ groupmq", [10, 20]),
  ratio("zipf/groupmq", "zipf: Junban ÷ groupmq", [4, 8]),
  ratio("uniform/groupmq", "uniform: Junban ÷ groupmq", [3, 6]),
  ratio("hot/pg-row-lock", "hot: Junban ÷ pg-row-lock, which keeps no order", [10, 20]),
  ratio("uniform/pg-row-lock", "uniform: Junban ÷ pg-row-lock", [1.3, 2]),
  {
    ...ratio("best/bullmq-noop", "the best of the three: Junban ÷ bullmq-noop", [0.35, 0.6]),
    measure: (kept) => most(BACKLOGS.map((name) => ratioOf(kept, name, "bullmq-noop"))),
  },
  {
    ...less(
      "fairness/p99",
      "fairness: p99 of other orders while a flood is worked off ÷ without one",
      [5, 2],
      (kept) => ratioOf(kept, "fairness", "p99"),
    ),
    write: times,
  },
  ratio("history/order", "history: rate of an order with a long past ÷ a short one", [0.85, 0.95]),
  ratio("history/inbox", "history: rate with a large inbox ÷ a small one", [0.85, 0.95]),
  less("hot/calls", "hot: Redis calls an event", [2.2, 2.05], (kept) =>
    ofOwn(kept, "hot", "redisCallsPerEvent"),
  ),
  less("uniform/calls", "uniform: Redis calls an event", [3.1, 3], (kept) =>
    ofOwn(kept, "uniform", "redisCallsPerEvent"),
  ),
  less("postgres/trips", "the worst of the three: Postgres round trips a transaction", [3, 2], (kept) =>
    most(BACKLOGS.map((name) => ofOwn(kept, name, "postgresTripsPerTransaction"))),
  ),
  {
    ...less(
      "memory/resident",
      "memory: resident after the most events ÷ after the fewest",
      [1.2, 1.05],
      (kept) => ratioOf(kept, "memory", "resident"),
    ),
    write: times,
  },
  ratio("relay/relay", "relay: what one relay passes on ÷ what one worker applies", [1, 3]),
  {
    ...less(
      "recovery/lease",
      "recovery: from SIGKILL of the holder until its order moves, beyond the lease",
      [2_000, 500],
      beyondLease,
    ),
    write: (value) => (Number.isFinite(value) ? duration(value) : "did not move in time"),
  },
];

function ratioOf(kept: Kept, workload: WorkloadName, name: string): number | null {
  return runOf(runsOf(kept), workload)?.ratios[name] ?? null;
}

function ofOwn(
  kept: Kept,
  workload: (typeof BACKLOGS)[number],
  figure: "redisCallsPerEvent" | "postgresTripsPerTransaction",
): number | null {
  return runOf(runsOf(kept), workload)?.results.find(({ name }) => name === OWN)?.[figure] ?? null;
}

/** The latest of Junban's, whatever its settings. */
function beyondLease(kept: Kept): number | null {
  const own = (runOf(runsOf(kept), "recovery")?.results ?? []).filter(({ name }) => name === OWN);
  return most(
    own.map(({ movesAgainAfterMs, leaseMs }) =>
      leaseMs === null ? null : Math.max(0, (movesAgainAfterMs ?? Number.POSITIVE_INFINITY) - leaseMs),
    ),
  );
}

function most(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
