import type {
  BacklogRow,
  FairnessRow,
  GatewayRow,
  GrowthRow,
  HistoryRow,
  LatencyRow,
  MemoryRow,
  PublishRow,
  RecoveryRow,
  RelayRow,
  RetryRow,
  Run,
} from "../results.ts";
import { bytes, cell, duration, rounded, times, whole } from "./figures.ts";
import { table } from "./markdown.ts";

/** A backlog: how fast, against Junban, and what came of the events. */
export function backlogTable({ results, ratios }: Run<BacklogRow>): readonly string[] {
  return table(
    [
      "contender",
      "events/s",
      "Junban ÷ it",
      "p50",
      "p99",
      "out of order",
      "lost",
      "doubled",
      "left at the cut-off",
    ],
    results.map((row) => [
      row.name,
      whole(row.eventsPerSecond),
      cell(ratios[row.name], times),
      cell(row.p50Ms, duration),
      cell(row.p99Ms, duration),
      cell(row.inversions),
      cell(row.lost),
      cell(row.doubled),
      row.left === 0 ? "–" : whole(row.left),
    ]),
  );
}

/** A backlog: what each event costs. */
export function costTable({ results }: Run<BacklogRow>): readonly string[] {
  return table(
    [
      "contender",
      "CPU ms, its process",
      "CPU ms, Redis",
      "CPU ms, Postgres",
      "Redis calls",
      "Redis trips",
      "Postgres trips",
      "trips a transaction",
    ],
    results.map((row) => [
      row.name,
      // Seconds for a thousand are milliseconds for one.
      cell(row.cpuSecondsPer1000, rounded),
      cell(row.redisCpuSecondsPer1000, rounded),
      cell(row.postgresCpuSecondsPer1000, rounded),
      cell(row.redisCallsPerEvent, rounded),
      cell(row.redisTripsPerEvent, rounded),
      cell(row.postgresTripsPerEvent, rounded),
      cell(row.postgresTripsPerTransaction, rounded),
    ]),
  );
}

export function latencyTable({ results }: Run<LatencyRow>): readonly string[] {
  return table(
    ["contender", "load", "offered/s", "p50", "p90", "p99", "slowest", "out of order", "lost"],
    results.map((row) => [
      row.name,
      `${Math.round(row.load * 100)} %`,
      whole(row.offeredPerSecond),
      ...[row.p50Ms, row.p90Ms, row.p99Ms, row.maxMs].map(duration),
      whole(row.inversions),
      whole(row.lost),
    ]),
  );
}

export function publishTable({ results }: Run<PublishRow>): readonly string[] {
  const sizes = [...new Set(results.map(({ at }) => at))];
  const names = [...new Set(results.map(({ name }) => name))];
  return table(
    ["contender", ...sizes.map((at) => (at === 1 ? "one by one" : `${whole(at)} at once`))],
    names.map((name) => [
      name,
      ...sizes.map((at) => cell(results.find((row) => row.name === name && row.at === at)?.eventsPerSecond)),
    ]),
  );
}

export function fairnessTable({ results }: Run<FairnessRow>): readonly string[] {
  return table(
    ["arm", "events on the one order", "single events", "p50", "p99", "slowest"],
    results.map((row) => [
      row.arm,
      row.arm === "quiet" ? "–" : whole(row.flood),
      whole(row.others),
      ...[row.p50Ms, row.p99Ms, row.maxMs].map(duration),
    ]),
  );
}

const PASTS: Readonly<Record<HistoryRow["arm"], string>> = {
  order: "the order",
  inbox: "the inbox",
  open: "the open orders",
};

export function historyTable({ results }: Run<HistoryRow>): readonly string[] {
  return table(
    ["what has a past", "events or rows", "events/s"],
    results.map((row) => [PASTS[row.arm], whole(row.past), whole(row.eventsPerSecond)]),
  );
}

export function growthTable({ results }: Run<GrowthRow>): readonly string[] {
  return table(
    ["workload", "events", "processes", "events/s", "out of order", "lost"],
    results.map((row) => [
      row.workload,
      ...[row.events, row.processes, row.eventsPerSecond, row.inversions, row.lost].map(whole),
    ]),
  );
}

export function memoryTable({ results }: Run<MemoryRow>): readonly string[] {
  return table(
    ["events", "resident memory"],
    results.map((row) => [whole(row.events), bytes(row.residentBytes)]),
  );
}

export function relayTable({ results }: Run<RelayRow>): readonly string[] {
  return table(
    ["who", "events/s"],
    results.map(({ arm, eventsPerSecond }) => [
      arm === "worker" ? "the worker applies" : "the relay passes on",
      whole(eventsPerSecond),
    ]),
  );
}

export function gatewayTable({ results }: Run<GatewayRow>): readonly string[] {
  return table(
    ["through", "events a call", "events/s", "p50 of a call", "p99"],
    results.map((row) => [
      row.door === "sdk" ? "the publisher" : "a gateway",
      whole(row.at),
      whole(row.eventsPerSecond),
      duration(row.p50Ms),
      duration(row.p99Ms),
    ]),
  );
}

/** A killed holder and a failed event side by side, a row for each contender and its settings. */
export function troubleTable(
  recovery: Run<RecoveryRow> | undefined,
  retries: Run<RetryRow> | undefined,
): readonly string[] {
  const rows = [...(recovery?.results ?? []), ...(retries?.results ?? [])];
  const arms = [...new Map(rows.map((row) => [armOf(row), row])).values()];
  return table(
    [
      "contender",
      "settings",
      "what is set",
      "moves after a kill",
      "came of it",
      "moves after a failure",
      "overtook it",
      "came of it",
    ],
    arms.map((arm) => {
      const killed = recovery?.results.find((row) => armOf(row) === armOf(arm));
      const failed = retries?.results.find((row) => armOf(row) === armOf(arm));
      return [
        arm.name,
        arm.settings,
        arm.note,
        movesOf(killed),
        outcomeOf(killed),
        movesOf(failed),
        cell(failed?.overtaken),
        outcomeOf(failed),
      ];
    }),
    { left: 3 },
  );
}

function armOf({ name, settings }: RecoveryRow): string {
  return `${name} ${settings}`;
}

function movesOf(row: RecoveryRow | undefined): string {
  if (row === undefined) return "–";
  return row.movesAgainAfterMs === null
    ? `not within ${duration(row.withinMs)}`
    : duration(row.movesAgainAfterMs);
}

function outcomeOf(row: RecoveryRow | undefined): string {
  if (row === undefined) return "–";
  const parts = [
    row.decided < row.of ? `${whole(row.of - row.decided)} of ${whole(row.of)} not decided` : "",
    row.inversions > 0 ? `${whole(row.inversions)} out of order` : "",
    row.doubled > 0 ? `${whole(row.doubled)} doubled` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "all in order" : parts.join(", ");
}
