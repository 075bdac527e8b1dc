import type { Kept, KeptContender, KeptWorkload } from "../../apps/bench/src/report/kept.ts";
import type { RowsOf, WorkloadName } from "../../apps/bench/src/report/rows.ts";
import type { BacklogRow, RecoveryRow, Run } from "../../apps/bench/src/results.ts";

/** Invented figures of the size one meets; no run gave them. */
const MACHINE = {
  cores: 2,
  memoryBytes: 8_312_000_000,
  node: "v20.20.0",
  postgres: "18.4",
  redis: "7.0.15",
  system: "linux 6.1 x64",
} as const;

function contender(name: string, version: string, rest: Partial<KeptContender> = {}): KeptContender {
  return {
    name,
    version,
    what: `${name} as its makers advise`,
    settings: [],
    promises: "nothing",
    applies: true,
    ...rest,
  };
}

const CONTENDERS: readonly KeptContender[] = [
  contender("junban", "junban 0.1.0", {
    what: "one worker process",
    promises: "publish order",
    settings: [{ name: "JUNBAN_LEASE_MS", value: "10000", why: "the default", source: null }],
  }),
  contender("groupmq", "groupmq 1.1.0", {
    promises: "publish order",
    settings: [
      {
        name: "groupId",
        value: "lcid",
        why: "one group an order",
        source: "https://www.npmjs.com/package/groupmq",
      },
    ],
  }),
  contender("graphile", "graphile-worker 0.17.3", { promises: "publish order" }),
  contender("pgboss", "pg-boss 10.4.2", { promises: "one at a time" }),
  contender("redlock", "@sesamecare-oss/redlock 1.4.0", { promises: "one at a time" }),
  contender("naive-lock", "bullmq 6.7.0", { promises: "one at a time" }),
  contender("pg-row-lock", "bullmq 6.7.0"),
  contender("bullmq-noop", "bullmq 6.7.0", { applies: false }),
  contender("sql-ceiling", "pg 8.23.1", { promises: "publish order" }),
];

function backlogRow(name: string, eventsPerSecond: number, rest: Partial<BacklogRow> = {}): BacklogRow {
  return {
    name,
    eventsPerSecond,
    p50Ms: 4_000_000 / eventsPerSecond,
    p99Ms: 7_920_000 / eventsPerSecond,
    inversions: 0,
    lost: 0,
    doubled: 0,
    left: 0,
    cpuSecondsPer1000: 900 / eventsPerSecond,
    redisCpuSecondsPer1000: 400 / eventsPerSecond,
    postgresCpuSecondsPer1000: 420 / eventsPerSecond,
    redisCallsPerEvent: name === "junban" ? 1.07 : 8.2,
    redisTripsPerEvent: name === "junban" ? 0.21 : 6.4,
    postgresTripsPerEvent: name === "junban" ? 0.03 : 2,
    postgresTripsPerTransaction: name === "bullmq-noop" ? null : 2,
    ...rest,
  };
}

/** Rates in the order of `CONTENDERS`, and how often each broke the order. */
function backlog(
  workload: "hot" | "zipf" | "uniform",
  rates: readonly number[],
  broke: readonly number[],
): Run<BacklogRow> {
  const results = CONTENDERS.map(({ name, applies }, index) => {
    const rate = rates[index] ?? 1;
    const isSlow = rate < 50;
    return backlogRow(name, rate, {
      inversions: applies ? (broke[index] ?? 0) : null,
      lost: applies && !isSlow ? 0 : null,
      doubled: applies ? 0 : null,
      left: isSlow ? 3_120 : 0,
    });
  });
  const own = rates[0] ?? 1;
  return runOf(
    workload,
    results,
    Object.fromEntries(results.slice(1).map((row) => [row.name, own / row.eventsPerSecond])),
  );
}

function runOf<Name extends WorkloadName>(
  workload: Name,
  results: readonly RowsOf[Name][],
  ratios: Readonly<Record<string, number>> = {},
): Run<RowsOf[Name]> {
  return { workload, events: 8_000, seed: 1, rounds: 3, machine: MACHINE, results, ratios };
}

function recoveryRow(
  name: string,
  movesAgainAfterMs: number | null,
  rest: Partial<RecoveryRow> = {},
): RecoveryRow {
  return {
    name,
    settings: "defaults",
    note: "as it comes",
    leaseMs: 10_000,
    movesAgainAfterMs,
    withinMs: 60_000,
    decided: movesAgainAfterMs === null ? 20 : 50,
    of: 50,
    inversions: 0,
    doubled: 0,
    ...rest,
  };
}

const RECOVERIES: readonly RecoveryRow[] = [
  recoveryRow("junban", 10_240),
  recoveryRow("groupmq", 30_900, { leaseMs: 30_000, note: "jobTimeoutMs 30,000" }),
  recoveryRow("graphile", null, { leaseMs: 14_400_000, note: "a job is given up after four hours" }),
  recoveryRow("pgboss", null, { leaseMs: 900_000 }),
  recoveryRow("redlock", 31_200, { leaseMs: 30_000, inversions: 14 }),
  recoveryRow("pg-row-lock", 2_800, { leaseMs: null, inversions: 31 }),
  recoveryRow("junban", 1_310, { settings: "best", leaseMs: 1_000, note: "JUNBAN_LEASE_MS=1000" }),
  recoveryRow("groupmq", 4_100, { settings: "best", leaseMs: 3_000, note: "jobTimeoutMs 3,000" }),
  recoveryRow("graphile", 12_000, {
    settings: "best",
    leaseMs: null,
    note: "force-unlock by hand after 10 s",
  }),
];

const LATENCIES = [0.3, 0.7].flatMap((load) =>
  (
    [
      ["junban", 3_900, 4.2, 8.8, 21],
      ["groupmq", 840, 3.1, 7.7, 30],
      ["pgboss", 410, 260, 498, 1_030],
      ["pg-row-lock", 1_500, 4.9, 12, 44],
    ] as const
  ).map(([name, rate, p50, p90, p99]) => ({
    name,
    load,
    offeredPerSecond: rate * load,
    p50Ms: p50 * (0.6 + load),
    p90Ms: p90 * (0.5 + load * 2),
    p99Ms: p99 * (0.5 + load * 3),
    maxMs: p99 * 4,
    inversions: name === "pg-row-lock" ? 12 : 0,
    lost: 0,
  })),
);

const RUNS: readonly Run<unknown>[] = [
  backlog("hot", [5_590, 538, 32, 410, 122, 39, 339, 12_862, 12_480], [0, 0, 0, 212, 1_204, 3_377, 1_751]),
  backlog("zipf", [5_063, 847, 61, 690, 830, 365, 1_582, 14_218, 15_038], [0, 0, 0, 88, 640, 1_930, 940]),
  backlog("uniform", [3_579, 778, 150, 702, 1_010, 1_386, 1_799, 12_448, 8_024], [0, 0, 0, 0, 3, 12, 7]),
  runOf("latency", LATENCIES),
  runOf(
    "publish",
    [1, 256, 2_000].flatMap((at) =>
      [
        ["junban", 2_900],
        ["groupmq", 2_600],
        ["pgboss", 1_200],
        ["bullmq-noop", 4_800],
      ].map(([name, rate]) => ({
        name: String(name),
        at,
        eventsPerSecond: Number(rate) * (at === 1 ? 1 : 4.1),
      })),
    ),
  ),
  runOf(
    "fairness",
    [
      { arm: "quiet", flood: 10_000, others: 200, p50Ms: 4.1, p99Ms: 11.8, maxMs: 19 },
      { arm: "flooded", flood: 10_000, others: 200, p50Ms: 6.2, p99Ms: 30.4, maxMs: 61 },
      { arm: "flooding", flood: 10_000, others: 200, p50Ms: 6.6, p99Ms: 36.6, maxMs: 70 },
    ],
    { p50: 1.51, p99: 2.58, p50Flooding: 1.6, p99Flooding: 3.1 },
  ),
  runOf(
    "history",
    [
      { arm: "order", past: 10, eventsPerSecond: 4_120 },
      { arm: "order", past: 10_000, eventsPerSecond: 4_080 },
      { arm: "inbox", past: 1_000, eventsPerSecond: 3_610 },
      { arm: "inbox", past: 1_000_000, eventsPerSecond: 3_330 },
      { arm: "open", past: 1_000, eventsPerSecond: 3_600 },
      { arm: "open", past: 100_000, eventsPerSecond: 3_500 },
    ],
    { order: 0.99, inbox: 0.92, open: 0.97 },
  ),
  runOf(
    "growth",
    (["hot", "uniform"] as const).flatMap((workload) =>
      [8_000, 80_000].flatMap((events) =>
        [1, 2, 4].map((processes) => ({
          workload,
          processes,
          events,
          eventsPerSecond:
            (workload === "hot" ? 5_400 : 3_500) *
            (1 + Math.log2(processes) * 0.12) *
            (events > 8_000 ? 0.97 : 1),
          inversions: 0,
          lost: 0,
        })),
      ),
    ),
  ),
  runOf(
    "memory",
    [
      { events: 10_000, residentBytes: 148_000_000 },
      { events: 100_000, residentBytes: 159_000_000 },
    ],
    { resident: 1.07 },
  ),
  runOf(
    "relay",
    [
      { arm: "worker", eventsPerSecond: 3_600 },
      { arm: "relay", eventsPerSecond: 9_100 },
    ],
    { relay: 2.53 },
  ),
  runOf(
    "gateway",
    (["sdk", "gateway"] as const).flatMap((door) =>
      [1, 64].map((at) => ({
        door,
        at,
        eventsPerSecond: (door === "sdk" ? 9_000 : 4_000) * (at === 1 ? 0.6 : 1),
        p50Ms: door === "sdk" ? 3 : 7,
        p99Ms: door === "sdk" ? 9 : 21,
      })),
    ),
    { "rate at 1": 0.44, "p99 at 1": 2.3 },
  ),
  runOf("recovery", RECOVERIES),
  runOf(
    "retries",
    RECOVERIES.map((row) => ({ ...row, overtaken: row.inversions })),
  ),
];

/** A whole set of results as the command keeps it. */
export const SAMPLE: Kept = {
  quick: false,
  sittings: [{ startedAt: "2026-11-30T09:00:00.000Z", commit: "abc1234", changed: false }],
  contenders: CONTENDERS,
  workloads: RUNS.map((run): KeptWorkload => ({
    sitting: 0,
    what: `what ${run.workload} asks.`,
    tookMs: 120_000,
    withinMs: 60_000,
    run,
  })),
};
