import type { BacklogRow, Run } from "../results.ts";
import { duration, times, whole } from "./figures.ts";
import { runsOf, type Kept } from "./kept.ts";
import { bullets, heading, listed, paragraph, table } from "./markdown.ts";
import { BACKLOGS, isBroken, isCeiling, isOwn, OWN, runOf } from "./rows.ts";
import { falls, measuredTargets, type Measured, type Standing, type Target } from "./targets.ts";

const RIVAL = "groupmq";

/** What a reader in a hurry takes away, each sentence from figures further down. */
export function conclusion(kept: Kept): readonly string[] {
  const backlogs = BACKLOGS.flatMap((name) => runOf(runsOf(kept), name) ?? []);
  return [
    ...heading("In short"),
    ...paragraph("What Junban does with one worker process, and how many times what others do:"),
    ...bullets([
      ...backlogs.flatMap((run) => speedOf(kept, run)),
      ...orderOf(backlogs),
      ...latencyOf(kept),
      ...recoveryOf(kept),
      ...standingsOf(measuredTargets(kept)),
    ]),
  ];
}

function speedOf(kept: Kept, run: Run<BacklogRow>): readonly string[] {
  const own = run.results.find(({ name }) => name === OWN);
  if (own === undefined) return [];
  const others = run.results
    .filter(({ name }) => !isOwn(name) && !isCeiling(name))
    .toSorted((left, right) => right.eventsPerSecond - left.eventsPerSecond);
  const named = others.filter((row, place) => row.name === RIVAL || place === 0);
  const parts = named.map((row) => {
    const promise = kept.contenders.find(({ name }) => name === row.name)?.promises;
    const notes = [
      row === others[0] ? "the fastest of the others" : "",
      isBroken(row) ? "which broke the order" : "",
      promise === "publish order" ? "which promises publish order too" : "",
    ].filter((note) => note !== "");
    const aside = notes.length === 0 ? "" : ` (${notes.join(", ")})`;
    return `${times(own.eventsPerSecond / row.eventsPerSecond)} ${row.name}${aside}`;
  });
  const compared = parts.length === 0 ? "" : `: ${listed(parts)}`;
  const what = kept.workloads.find((entry) => entry.run === run)?.what ?? "";
  return [`**${run.workload}** (${what}): ${whole(own.eventsPerSecond)} events a second${compared}.`];
}

function orderOf(backlogs: readonly Run<BacklogRow>[]): readonly string[] {
  if (backlogs.length === 0) return [];
  const rows = backlogs.flatMap(({ workload, results }) => results.map((row) => ({ ...row, workload })));
  const own = rows.filter(({ name }) => name === OWN);
  const sum = (key: "inversions" | "lost" | "doubled"): string => {
    const counts = own.map((row) => row[key]);
    return counts.includes(null) ? "nobody knows how many" : whole(sumOf(counts));
  };
  const broken = [
    ...new Set(rows.filter((row) => !isOwn(row.name) && isBroken(row)).map(({ name }) => name)),
  ];
  const others =
    broken.length === 0
      ? "Nobody else did it harm either."
      : `Order was broken, or events lost or doubled, by ${listed(broken)}.`;
  return [
    `In these backlogs Junban decided ${sum("inversions")} events out of order, lost ${sum("lost")} and doubled ${sum("doubled")}. ${others}`,
  ];
}

function sumOf(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((total, count) => total + (count ?? 0), 0);
}

function latencyOf(kept: Kept): readonly string[] {
  const rows = runOf(runsOf(kept), "latency")?.results ?? [];
  const load = Math.min(...rows.map((row) => row.load));
  const said = [OWN, RIVAL].flatMap((wanted) =>
    rows
      .filter((row) => row.name === wanted && row.load === load)
      .map(
        ({ name, offeredPerSecond, p50Ms, p99Ms }) =>
          `${name} (${whole(offeredPerSecond)} events a second) p50 ${duration(p50Ms)} and p99 ${duration(p99Ms)}`,
      ),
  );
  if (said.length === 0) return [];
  return [
    `From publishing to decision, each at ${Math.round(load * 100)} % of its own rate: ${said.join("; ")}.`,
  ];
}

function recoveryOf(kept: Kept): readonly string[] {
  const row = runOf(runsOf(kept), "recovery")?.results.find(
    ({ name, settings }) => name === OWN && settings === "defaults",
  );
  if (row === undefined) return [];
  const lease = row.leaseMs === null ? "" : `, with a lease of ${duration(row.leaseMs)}`;
  return [
    row.movesAgainAfterMs === null
      ? `When the holder of an order is killed, its next event was not decided within ${duration(row.withinMs)}${lease}.`
      : `When the holder of an order is killed, its next event is decided ${duration(row.movesAgainAfterMs)} later${lease}.`,
  ];
}

function standingsOf(measured: readonly Measured[]): readonly string[] {
  const of = (standing: Standing): number => measured.filter((one) => one.standing === standing).length;
  const known = measured.length - of("not measured");
  if (known === 0) return [];
  const missing = of("not measured") === 0 ? "" : `; not measured: ${of("not measured")}`;
  return [
    `Of the figures aimed at beforehand, reached: ${of("reached")}; good enough: ${of("met")}; short: ${of("short")}${missing}.`,
  ];
}

const WORDS: Readonly<Record<Standing, string>> = {
  reached: "reached",
  met: "met, not reached",
  short: "**short**",
  "not measured": "not measured",
};

/** What was aimed at, and beside it what came out; then a word on each that is not where it was wanted. */
export function targetsSection(kept: Kept, notes: Readonly<Record<string, string>>): readonly string[] {
  const measured = measuredTargets(kept);
  const fallen = measured.filter(({ standing }) => falls(standing));
  return [
    ...heading("What was aimed at"),
    ...paragraph(
      "Set before the first round was run. “Must” is what we owe; “reach for” is what we would like.",
      "Ratios are of medians in one run; a peer that was cut off counts with what it did until then.",
    ),
    ...table(
      ["figure", "must", "reach for", "measured", "standing"],
      measured.map(({ target, value, standing }) => {
        const sign = target.better === "more" ? "≥" : "≤";
        return [
          target.what,
          `${sign} ${limitOf(target, target.must)}`,
          `${sign} ${limitOf(target, target.reach)}`,
          value === null ? "–" : target.write(value),
          `${WORDS[standing]}${isNear(target, value) && falls(standing) ? " (by less than the digits show)" : ""}`,
        ];
      }),
    ),
    ...(fallen.length === 0 ? [] : paragraph("What stands in the way of the others:")),
    ...bullets(
      fallen.map(({ target }) => {
        const note = (notes[target.id] ?? "").trim();
        return `*${target.what}*: ${note === "" ? `**nobody has explained this yet** (\`${target.id}\`).` : note}`;
      }),
    ),
  ];
}

/** A limit is exact: no digits that say nothing. */
function limitOf({ write }: Target, limit: number): string {
  return write(limit).replace(/\.0+(?=\D|$)/u, "");
}

/** Whether it looks as if it were at the limit. */
function isNear(target: Target, value: number | null): boolean {
  return (
    value !== null && [target.must, target.reach].some((limit) => target.write(limit) === target.write(value))
  );
}
