import type { HistoryRow } from "../results.ts";
import { bytes, cell, duration, rounded, times, whole } from "./figures.ts";
import { runsOf, type Kept } from "./kept.ts";
import { paragraph, table } from "./markdown.ts";
import { BACKLOGS, OWN, runOf, type WorkloadName } from "./rows.ts";

const BEGIN = "<!-- costs:begin -->";
const END = "<!-- costs:end -->";
/** A queue that does nothing else: what of Redis's work is the carrier's. */
const CARRIER = "bullmq-noop";

/** The measured figures that docs/capacity.md reckons with, the marks included. */
export function capacityBlockOf(kept: Kept): string {
  const lines = [
    BEGIN,
    "<!-- Written by `npm run bench:report`. -->",
    "",
    ...paragraph("From [benchmarks.md](benchmarks.md), which names the machine and how it was measured:"),
    ...costs(kept),
    ...others(kept),
    END,
  ];
  return lines.join("\n");
}

/** A second for a thousand events is a thousand microseconds for one. */
function microseconds(secondsPer1000: number): string {
  return whole(secondsPer1000 * 1_000);
}

function costs(kept: Kept): readonly string[] {
  return table(
    [
      "backlog",
      "events/s",
      "worker, CPU µs",
      "Redis, CPU µs",
      "Postgres, CPU µs",
      "Redis calls",
      "Postgres trips a transaction",
    ],
    [OWN, CARRIER].flatMap((contender) =>
      BACKLOGS.flatMap((workload) =>
        resultsOf(kept, workload)
          .filter(({ name }) => name === contender)
          .map((row) => [
            contender === OWN ? workload : `${workload}, ${contender}`,
            whole(row.eventsPerSecond),
            cell(row.cpuSecondsPer1000, microseconds),
            cell(row.redisCpuSecondsPer1000, microseconds),
            cell(row.postgresCpuSecondsPer1000, microseconds),
            cell(row.redisCallsPerEvent, rounded),
            cell(row.postgresTripsPerTransaction, rounded),
          ]),
      ),
    ),
  );
}

/** What else the page leans on, a row each, as far as it was measured. */
function others(kept: Kept): readonly string[] {
  const rows = [
    ...resultsOf(kept, "latency")
      .filter(({ name }) => name === OWN)
      .map(({ load, offeredPerSecond, p50Ms, p99Ms }) => [
        `latency: publish to decision at ${whole(load * 100)} % of one worker's rate, ${whole(offeredPerSecond)}/s, p50 and p99`,
        `${duration(p50Ms)}, ${duration(p99Ms)}`,
      ]),
    ...resultsOf(kept, "publish")
      .filter(({ name }) => name === OWN)
      .map(({ at, eventsPerSecond }) => [
        `publish: one producer, ${at === 1 ? "one by one" : `${whole(at)} at once`}, events/s`,
        whole(eventsPerSecond),
      ]),
    ...resultsOf(kept, "fairness").map(({ arm, p99Ms }) => [
      `fairness: ${FLOODS[arm]}, p99`,
      duration(p99Ms),
    ]),
    ...resultsOf(kept, "history").map(({ arm, past, eventsPerSecond }) => [
      `history: ${PASTS[arm]}, ${whole(past)} of them, events/s`,
      whole(eventsPerSecond),
    ]),
    ...Object.entries(runOf(runsOf(kept), "growth")?.ratios ?? {}).map(([name, ratio]) => [
      `growth: ${name}, rate ÷ that of one process and the fewest events`,
      times(ratio),
    ]),
    ...resultsOf(kept, "memory").map(({ events, residentBytes }) => [
      `memory: one worker, after ${whole(events)} events`,
      bytes(residentBytes),
    ]),
  ];
  return rows.length === 0 ? [] : table(["what else", "measured"], rows);
}

const PASTS: Readonly<Record<HistoryRow["arm"], string>> = {
  order: "an order with past events",
  inbox: "an inbox with rows",
  open: "open orders",
};

const FLOODS = {
  quiet: "other orders, no flood",
  flooded: "other orders, a flood on one is worked off",
  flooding: "other orders, a flood on one is published",
} as const;

function resultsOf<Name extends WorkloadName>(kept: Kept, name: Name) {
  return runOf(runsOf(kept), name)?.results ?? [];
}
