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
import { barsOf, type Bar } from "./charts/bars.ts";
import type { Look } from "./charts/looks.ts";
import { rangesOf } from "./charts/ranges.ts";
import { bytes, counted, duration, times, whole } from "./figures.ts";
import { isBroken, isCeiling, isOwn, OWN, type RowsOf, type WorkloadName } from "./rows.ts";

const BACKLOG_TITLES: Readonly<Record<string, string>> = {
  hot: "hot: a backlog of one order",
  zipf: "zipf: a backlog in which few orders have most events",
  uniform: "uniform: a backlog spread over many orders",
};

const FLOODS: Readonly<Record<FairnessRow["arm"], string>> = {
  quiet: "without a flood",
  flooded: "while a flood is worked off",
  flooding: "while a flood is published",
};

/** How each workload is drawn. */
const PICTURES: { readonly [Name in WorkloadName]: (run: Run<RowsOf[Name]>) => string } = {
  hot: backlog,
  zipf: backlog,
  uniform: backlog,
  latency,
  publish,
  fairness,
  history,
  growth,
  memory,
  relay,
  gateway,
  recovery: (run) =>
    recovery(run, "recovery: the worker that holds a key is killed, others of that key wait"),
  retries: (run) =>
    recovery(run, "retries: one event of a key fails once, others of that key stand behind it"),
};

/** The picture of one run as SVG; null where the workload has none, or the run no rows. */
export function pictureOf(run: Run<unknown>): string | null {
  if (!(run.workload in PICTURES) || run.results.length === 0) return null;
  const draw = PICTURES[run.workload as WorkloadName] as (run: Run<unknown>) => string;
  return draw(run);
}

function backlog({ workload, results }: Run<BacklogRow>): string {
  const bars = results.map((row): Bar => {
    const cut = row.left > 0 ? ` (cut off, ${whole(row.left)} left)` : "";
    return {
      label: row.name,
      value: row.eventsPerSecond,
      says: withFaults(`${whole(row.eventsPerSecond)}${cut}`, row),
      look: lookOf(row.name, isBroken(row)),
    };
  });
  return barsOf({
    title: BACKLOG_TITLES[workload] ?? workload,
    says: "events worked off a second, longer is faster",
    groups: [{ title: "", bars: ownFirst(bars) }],
  });
}

function latency({ results }: Run<LatencyRow>): string {
  const loads = [...new Set(results.map(({ load }) => load))].toSorted((left, right) => left - right);
  return rangesOf({
    title: "latency: from publishing an event to its decision",
    says: "each at a share of its own backlog rate; further left is sooner, the scale is logarithmic",
    marks: ["p50", "p90", "p99"],
    groups: loads.map((load) => ({
      title: `at ${Math.round(load * 100)} % of its own rate`,
      ranges: results
        .filter((row) => row.load === load)
        .map((row) => ({
          label: `${row.name}, ${whole(row.offeredPerSecond)}/s`,
          values: [row.p50Ms, row.p90Ms, row.p99Ms],
          says: withFaults([row.p50Ms, row.p90Ms, row.p99Ms].map(duration).join(" · "), row),
          look: lookOf(row.name, isBroken(row)),
        })),
    })),
  });
}

function publish({ results }: Run<PublishRow>): string {
  const sizes = [...new Set(results.map(({ at }) => at))].toSorted((left, right) => left - right);
  return barsOf({
    title: "publish: how fast events are put in",
    says: "events a second from one producer, longer is faster",
    groups: sizes.map((at) => ({
      title: at === 1 ? "one call after another" : `${whole(at)} at once`,
      bars: ownFirst(
        results
          .filter((row) => row.at === at)
          .map((row) => ({
            label: row.name,
            value: row.eventsPerSecond,
            says: whole(row.eventsPerSecond),
            look: lookOf(row.name, false),
          })),
      ),
    })),
  });
}

function fairness({ results }: Run<FairnessRow>): string {
  return rangesOf({
    title: "fairness: single events of other orders beside a flood on one",
    says: "from publishing to decision; further left is sooner, the scale is logarithmic",
    marks: ["p50", "p99", "slowest"],
    groups: [
      {
        title: "",
        ranges: results.map((row) => ({
          label: FLOODS[row.arm],
          values: [row.p50Ms, row.p99Ms, row.maxMs],
          says: [row.p50Ms, row.p99Ms, row.maxMs].map(duration).join(" · "),
          look: "own",
        })),
      },
    ],
  });
}

function history({ results }: Run<HistoryRow>): string {
  const arms = [
    ["order", "past events of the order"],
    ["inbox", "rows in the inbox"],
    ["open", "open orders"],
  ] as const;
  return barsOf({
    title: "history: what a long past costs",
    says: "events worked off a second, longer is faster",
    groups: arms.map(([arm, what]) => ({
      title: what,
      bars: besideFirst(
        results
          .filter((row) => row.arm === arm)
          .map((row) => ownBar(whole(row.past), row.eventsPerSecond, whole(row.eventsPerSecond))),
      ),
    })),
  });
}

function growth({ results }: Run<GrowthRow>): string {
  const kinds = [
    ...new Set(results.map(({ workload, events }) => `${workload}, ${counted(events, "event")}`)),
  ];
  return barsOf({
    title: "growth: more processes, and more events",
    says: "events worked off a second on one machine, longer is faster",
    groups: kinds.map((kind) => ({
      title: kind,
      bars: besideFirst(
        results
          .filter(({ workload, events }) => `${workload}, ${counted(events, "event")}` === kind)
          .map((row) => ({
            ...ownBar(
              counted(row.processes, "process", "processes"),
              row.eventsPerSecond,
              withFaults(whole(row.eventsPerSecond), row),
            ),
            look: lookOf(OWN, isBroken(row)),
          })),
      ),
    })),
  });
}

function memory({ results }: Run<MemoryRow>): string {
  return barsOf({
    title: "memory: what one worker keeps",
    says: "resident memory after so many events, shorter is less",
    groups: [
      {
        title: "",
        bars: besideFirst(
          results.map((row) =>
            ownBar(counted(row.events, "event"), row.residentBytes, bytes(row.residentBytes)),
          ),
        ),
      },
    ],
  });
}

function gateway({ results }: Run<GatewayRow>): string {
  const ways = [...new Set(results.map(({ at }) => at))];
  return barsOf({
    title: "gateway: events over HTTP",
    says: "events put in a second by one producer, longer is faster",
    groups: ways.map((at) => ({
      title: `${counted(at, "event")} a call`,
      bars: besideFirst(
        results
          .filter((row) => row.at === at)
          .map(({ door, eventsPerSecond, p99Ms }) =>
            ownBar(
              door === "sdk" ? "publisher" : "gateway",
              eventsPerSecond,
              `${whole(eventsPerSecond)}, p99 ${duration(p99Ms)}`,
            ),
          ),
      ),
    })),
  });
}

function relay({ results }: Run<RelayRow>): string {
  return barsOf({
    title: "relay: what was committed is passed on",
    says: "uniform events a second, one worker and then one relay, longer is faster",
    groups: [
      {
        title: "",
        bars: besideFirst(
          results.map(({ arm, eventsPerSecond }) =>
            ownBar(arm === "worker" ? "applied" : "passed on", eventsPerSecond, whole(eventsPerSecond)),
          ),
        ),
      },
    ],
  });
}

function recovery({ results }: Run<RecoveryRow | RetryRow>, title: string): string {
  const settings = [
    ["defaults", "with the settings it comes with"],
    ["best", "with its best settings for this"],
  ] as const;
  return barsOf({
    title,
    says: "time until the key moves on, shorter is sooner",
    groups: settings.map(([arm, what]) => ({
      title: what,
      bars: ownFirst(results.filter((row) => row.settings === arm).map(recoveryBar), "shortest"),
    })),
  });
}

function recoveryBar(row: RecoveryRow | RetryRow): Bar {
  const { name, movesAgainAfterMs, withinMs } = row;
  const notes = [
    movesAgainAfterMs === null ? `not within ${duration(withinMs)}` : duration(movesAgainAfterMs),
    ...(row.decided < row.of ? [`${whole(row.decided)} of ${whole(row.of)} decided`] : []),
  ];
  return {
    label: name,
    value: movesAgainAfterMs ?? withinMs,
    says: withFaults(notes.join(", "), row),
    look: movesAgainAfterMs === null ? "open" : lookOf(name, isBroken(row)),
  };
}

function ownBar(label: string, value: number, says: string): Bar {
  return { label, value, says, look: "own" };
}

function lookOf(name: string, broken: boolean): Look {
  if (broken) return "broken";
  if (isCeiling(name)) return "ceiling";
  return isOwn(name) ? "own" : "peer";
}

/** With how many times the first each of the others is. */
function besideFirst(bars: readonly Bar[]): readonly Bar[] {
  const first = bars[0]?.value ?? 0;
  return bars.map((bar, index) =>
    index === 0 || first === 0 ? bar : { ...bar, says: `${bar.says} (${times(bar.value / first)})` },
  );
}

/** Ourselves, the others, best first, and the ceilings. */
function ownFirst(bars: readonly Bar[], best: "longest" | "shortest" = "longest"): readonly Bar[] {
  const sign = best === "longest" ? -1 : 1;
  const rank = ({ label }: Bar): number => {
    if (isOwn(label)) return 0;
    return isCeiling(label) ? 2 : 1;
  };
  return bars.toSorted((left, right) => rank(left) - rank(right) || sign * (left.value - right.value));
}

function withFaults(
  says: string,
  row: {
    readonly inversions: number | null;
    readonly lost?: number | null;
    readonly doubled?: number | null;
    readonly overtaken?: number | null;
  },
): string {
  const faults = [
    [row.inversions, "out of order"],
    [row.lost, "lost"],
    [row.doubled, "doubled"],
    [row.overtaken, "overtook it"],
  ] as const;
  return [
    says,
    ...faults.filter(([count]) => (count ?? 0) > 0).map(([count, what]) => `${whole(count ?? 0)} ${what}`),
  ].join(", ");
}
