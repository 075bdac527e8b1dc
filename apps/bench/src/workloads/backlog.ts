import { hotStory, trafficOf } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import type { Contender } from "../contenders/contender.ts";
import { countedRound } from "../counts/counted-round.ts";
import { columns } from "../report/columns.ts";
import { cell, duration, rounded, whole } from "../report/figures.ts";
import type { BacklogRow, Run } from "../results.ts";
import { backlogRound, type BacklogRound } from "../rounds/backlog-round.ts";
import { median, percentile } from "../rounds/statistics.ts";
import type { Stage, Workload } from "./workload.ts";

/** A workload whose events are all published before the first is let go. */
export interface Backlog extends Workload<BacklogRow> {
  /** The same seed tells the same events. */
  eventsOf(options: { readonly events: number; readonly seed: number }): readonly EventEnvelope[];
}

const DEFAULT_EVENTS = 8_000;
/** At most so many times. */
const PROXIES_SLOW_DOWN = 4;

export const hot: Backlog = backlogOf({
  name: "hot",
  what: "a backlog of one order",
  eventsOf: ({ events, seed }) => hotStory({ lcid: "HOT-1", events, seed }),
});

export const zipf: Backlog = backlogOf({
  name: "zipf",
  what: "a backlog of 1,000 orders, few of them with most events (Zipf, s = 1.1)",
  eventsOf: ({ events, seed }) => trafficOf({ orders: 1_000, events, skew: "zipf", seed }),
});

export const uniform: Backlog = backlogOf({
  name: "uniform",
  what: "a backlog of 10,000 orders, each as likely as the other",
  eventsOf: ({ events, seed }) => trafficOf({ orders: 10_000, events, skew: "uniform", seed }),
});

export interface BacklogOptions extends Pick<Backlog, "name" | "what" | "eventsOf"> {
  /** Events that warm a contender up; what it gets by default when left out. */
  readonly warmUp?: number;
}

export function backlogOf({ name, what, eventsOf, ...warm }: BacklogOptions): Backlog {
  return {
    name,
    what,
    defaultEvents: DEFAULT_EVENTS,
    inReport: { without: ["junban-single"] },
    eventsOf,
    run: async (stage) => runBacklog(name, { stage, events: eventsOf(stage), warm }),
    table: tableOf,
  };
}

async function runBacklog(
  workload: string,
  { stage, events, warm }: { stage: Stage; events: readonly EventEnvelope[]; warm: Warm },
): Promise<Run<BacklogRow>> {
  const { contenders, sandbox, withinMs, signal, say } = stage;
  const taken = new Map<string, BacklogRound[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < stage.rounds; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      // Another one starts each round, so that none always finds the machine as the one before it left it.
      const contender = contenders[(round + turn) % contenders.length];
      if (contender === undefined) continue;
      const prefix = `${workload}-${round}-${turn}`;
      const one = await backlogRound(contender, { sandbox, prefix, events, withinMs, signal, ...warm });
      taken.get(contender.name)?.push(one);
      const cutOff = one.left > 0 ? `, cut off with ${whole(one.left)} left` : "";
      say(
        `round ${round + 1}/${stage.rounds} ${contender.name}: ${whole(rateOf(one))} events a second${cutOff}`,
      );
    }
  }
  const results: BacklogRow[] = [];
  for (const contender of contenders) {
    const rounds = taken.get(contender.name) ?? [];
    const counts = await countsOf(contender, { stage, events, rounds, warm, prefix: `${workload}-counted` });
    results.push({ ...rowOf(contender.name, rounds), ...counts });
  }
  return {
    workload,
    events: events.length,
    seed: stage.seed,
    rounds: stage.rounds,
    machine: stage.machine,
    results,
    ratios: ratiosOf(results),
  };
}

type Warm = Pick<BacklogOptions, "warmUp">;

type CountedFields =
  | "redisCallsPerEvent"
  | "redisTripsPerEvent"
  | "postgresTripsPerEvent"
  | "postgresTripsPerTransaction";

/** In a round of its own; with as many of the events as a slow contender is sure to manage. Nulls where it did not. */
async function countsOf(
  contender: Contender,
  options: {
    stage: Stage;
    events: readonly EventEnvelope[];
    rounds: readonly BacklogRound[];
    warm: Warm;
    prefix: string;
  },
): Promise<Pick<BacklogRow, CountedFields>> {
  const { stage, events, rounds, warm, prefix } = options;
  const { sandbox, withinMs, signal, say } = stage;
  const withoutProxies = (median(rounds.map(rateOf)) * withinMs) / 1_000;
  const manageable = Math.max(1, Math.floor(withoutProxies / PROXIES_SLOW_DOWN));
  try {
    const counted = { sandbox, prefix: `${prefix}-${contender.name}`, withinMs, signal, ...warm };
    const counts = await countedRound(contender, { ...counted, events: events.slice(0, manageable) });
    const { redisCallsPerEvent, redisTripsPerEvent, postgresTripsPerEvent, postgresTripsPerTransaction } =
      counts;
    return { redisCallsPerEvent, redisTripsPerEvent, postgresTripsPerEvent, postgresTripsPerTransaction };
  } catch (error) {
    signal.throwIfAborted();
    say(`${contender.name} could not be counted: ${String(error)}`);
    return {
      redisCallsPerEvent: null,
      redisTripsPerEvent: null,
      postgresTripsPerEvent: null,
      postgresTripsPerTransaction: null,
    };
  }
}

function rateOf({ decided, seconds }: BacklogRound): number {
  return decided / seconds;
}

function rowOf(name: string, rounds: readonly BacklogRound[]): Omit<BacklogRow, CountedFields> {
  const judgements = rounds.map(({ judgement }) => judgement);
  const left = Math.max(...rounds.map((round) => round.left));
  return {
    name,
    eventsPerSecond: median(rounds.map(rateOf)),
    p50Ms: latencyOf(rounds, 50),
    p99Ms: latencyOf(rounds, 99),
    inversions: sumOf(judgements.map((judgement) => judgement?.inversions ?? null)),
    // What was not decided when it was cut off may yet have been.
    lost: left > 0 ? null : sumOf(judgements.map((judgement) => judgement?.lost ?? null)),
    doubled: sumOf(judgements.map((judgement) => judgement?.doubled ?? null)),
    left,
    cpuSecondsPer1000: cpuOf(rounds, "node"),
    redisCpuSecondsPer1000: cpuOf(rounds, "redis"),
    postgresCpuSecondsPer1000: cpuOf(rounds, "postgres"),
  };
}

/** Null also where so many events were not decided that nobody can tell. */
function latencyOf(rounds: readonly BacklogRound[], of100: number): number | null {
  return figureOf(rounds.map(({ latenciesMs }) => latenciesMs && percentile(latenciesMs, of100)));
}

function cpuOf(rounds: readonly BacklogRound[], part: "node" | "redis" | "postgres"): number | null {
  return figureOf(rounds.map(({ cpu, decided }) => cpu && (cpu[part] / decided) * 1_000));
}

function figureOf(values: readonly (number | null)[]): number | null {
  const middle = median(values.map((value) => value ?? Number.NaN));
  return Number.isFinite(middle) ? middle : null;
}

function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}

function ratiosOf([own, ...peers]: readonly BacklogRow[]): Readonly<Record<string, number>> {
  const rate = own?.eventsPerSecond ?? Number.NaN;
  return Object.fromEntries(peers.map(({ name, eventsPerSecond }) => [name, rate / eventsPerSecond]));
}

function tableOf({ workload, events, rounds, results, ratios }: Run<BacklogRow>): readonly string[] {
  const milliseconds = (value: number | null): string => cell(value, duration);
  return [
    `${workload}: a backlog of ${whole(events)} events, medians of ${rounds} ${rounds === 1 ? "round" : "rounds"}`,
    ...columns([
      [
        "",
        "events/s",
        "junban is",
        "p50",
        "p99",
        "inversions",
        "lost",
        "doubled",
        "left",
        "CPU ms: node",
        "redis",
        "postgres",
        "calls",
        "trips",
        "PG trips/tx",
      ],
      ...results.map((row) => [
        row.name,
        rounded(row.eventsPerSecond),
        ratios[row.name] === undefined ? "" : `${rounded(ratios[row.name] ?? 0)} ×`,
        milliseconds(row.p50Ms),
        milliseconds(row.p99Ms),
        cell(row.inversions),
        cell(row.lost),
        cell(row.doubled),
        cell(row.left),
        cell(row.cpuSecondsPer1000, rounded),
        cell(row.redisCpuSecondsPer1000, rounded),
        cell(row.postgresCpuSecondsPer1000, rounded),
        cell(row.redisCallsPerEvent, rounded),
        cell(row.redisTripsPerEvent, rounded),
        cell(row.postgresTripsPerTransaction, rounded),
      ]),
    ]),
  ];
}
