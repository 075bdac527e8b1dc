import { trafficOf } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import { columns } from "../report/columns.ts";
import { counted, times, whole } from "../report/figures.ts";
import type { GrowthRow } from "../results.ts";
import { placesOf } from "../rounds/judging.ts";
import { startLive } from "../rounds/live.ts";
import { median } from "../rounds/statistics.ts";
import { wholeBacklogRate } from "./measuring/backlog-rate.ts";
import { ownOf, runOf } from "./measuring/own.ts";
import { inTurn, Rounds } from "./measuring/turns.ts";
import type { Stage, Workload } from "./workload.ts";

export interface GrowthOptions {
  /** Worker processes, fewest first. */
  readonly processes: readonly number[];
  /** So many times the events, fewest first. */
  readonly factors: readonly number[];
  /** Events that warm the workers up; what a contender gets by default when left out. */
  readonly warmUp?: number;
}

interface Arm {
  readonly name: string;
  readonly workload: "uniform" | "zipf";
  readonly processes: number;
  readonly events: number;
}

interface Round {
  readonly eventsPerSecond: number;
  readonly inversions: number;
  readonly lost: number;
}

/**
 * The same backlog with more processes, and ten times as long. Ratios, of each workload: `uniform ×4 processes` to the fewest
 * processes with the fewest events, `uniform ×10 events` to the fewest events with the fewest processes.
 */
export function growthOf(options: GrowthOptions): Workload<GrowthRow> {
  return {
    name: "growth",
    what: "uniform and zipf backlogs with 1, 2 and 4 worker processes, and ten times as many events",
    defaultEvents: 4_000,
    inReport: { withinMs: 60_000 },
    run: async (stage) => {
      const results = await measure(options, stage);
      return runOf("growth", stage, { results, ratios: growthRatiosOf(results) });
    },
    table: ({ results, ratios, rounds, machine }) => [
      `growth: backlogs worked off on ${machine.cores} cores, medians of ${rounds}`,
      ...columns([
        ["", "processes", "events", "events/s", "inversions", "lost"],
        ...results.map(({ workload, processes, events, eventsPerSecond, inversions, lost }) => [
          workload,
          ...[processes, events, eventsPerSecond, inversions, lost].map(whole),
        ]),
      ]),
      ...Object.entries(ratios).map(([name, ratio]) => `${name}: ${times(ratio)}`),
    ],
  };
}

export const growth: Workload<GrowthRow> = growthOf({ processes: [1, 2, 4], factors: [1, 10] });

const ORDERS = { uniform: 10_000, zipf: 1_000 } as const;

async function measure(options: GrowthOptions, stage: Stage): Promise<readonly GrowthRow[]> {
  const arms = armsOf(options, stage);
  const rounds = new Rounds<Round>();
  for (let round = 0; round < stage.rounds; round += 1) {
    for (const arm of inTurn(arms, round)) {
      const measured = await measureArm(arm, { stage, round, ...options });
      rounds.add(arm.name, measured);
      stage.say(
        `round ${round + 1}/${stage.rounds} ${arm.name}: ${whole(measured.eventsPerSecond)} events/s`,
      );
    }
  }
  return arms.map(({ name, ...arm }) => {
    const of = rounds.of(name);
    return {
      ...arm,
      eventsPerSecond: median(of.map(({ eventsPerSecond }) => eventsPerSecond)),
      inversions: of.reduce((sum, { inversions }) => sum + inversions, 0),
      lost: of.reduce((sum, { lost }) => sum + lost, 0),
    };
  });
}

function armsOf({ processes, factors }: GrowthOptions, stage: Stage): readonly Arm[] {
  return (["uniform", "zipf"] as const).flatMap((workload) =>
    factors.flatMap((factor) =>
      processes.map((count) => {
        const events = stage.events * factor;
        const name = `${workload}, ${counted(events, "event")}, ${counted(count, "process", "processes")}`;
        return { name, workload, processes: count, events };
      }),
    ),
  );
}

async function measureArm(
  { name, workload, processes, events: count }: Arm,
  { stage, round, warmUp }: GrowthOptions & { stage: Stage; round: number },
): Promise<Round> {
  const { sandbox, signal, withinMs, seed } = stage;
  const events: readonly EventEnvelope[] = trafficOf({
    orders: ORDERS[workload],
    events: count,
    skew: workload,
    seed,
  });
  const live = await startLive(ownOf(stage), {
    sandbox,
    prefix: `growth-${round}-${workload}-${count}-${processes}`,
    processes,
    signal,
    ...(warmUp === undefined ? {} : { warmUp }),
  });
  try {
    const eventsPerSecond = await wholeBacklogRate(live, events, { what: name, withinMs, signal });
    const decisions = await live.decisions(events.map(({ lcid }) => lcid));
    return { eventsPerSecond, ...placesOf(events, decisions) };
  } finally {
    await live.stop();
  }
}

export function growthRatiosOf(rows: readonly GrowthRow[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    (["uniform", "zipf"] as const).flatMap((workload) => {
      const own = rows.filter((row) => row.workload === workload);
      const [first] = own;
      if (first === undefined) return [];
      return own
        .filter(({ processes, events }) => (processes === first.processes) !== (events === first.events))
        .map(({ processes, events, eventsPerSecond }) => [
          processes === first.processes
            ? `${workload} ×${events / first.events} events`
            : `${workload} ×${processes / first.processes} processes`,
          eventsPerSecond / first.eventsPerSecond,
        ]);
    }),
  );
}
