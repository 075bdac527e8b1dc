import type { Run } from "../results.ts";
import { bytes, counted, duration, times } from "./figures.ts";
import { runsOf, type Kept, type KeptContender } from "./kept.ts";
import { heading, listed, paragraph, table } from "./markdown.ts";
import { BACKLOGS, OWN, runOf, type WorkloadName } from "./rows.ts";
import {
  backlogTable,
  costTable,
  fairnessTable,
  gatewayTable,
  growthTable,
  historyTable,
  latencyTable,
  memoryTable,
  publishTable,
  relayTable,
  troubleTable,
} from "./tables.ts";

const FROM_THE_START =
  "p50 and p99 are from the moment the backlog was let go to the decision of an event, not from its publication. Who is done within a second or two shows what it does in a burst: “growth” runs zipf and uniform ten times as long.";

const BESIDE_A_FLOOD =
  "The flood is long enough for the single events to end before it does. Beside one that is worked off they begin once a tenth of it is decided, since a process that stood still a moment ago is filling its slots first.";
const WARM_ROWS =
  "In both arms the worker was warmed up by 2,000 events of other orders and 100 to 1,000 of the measured ones, which lie in the inbox too.";

/** Every workload that was run: its picture, how it was run, its table. */
export function workloadSections(kept: Kept): readonly string[] {
  const section = <Name extends WorkloadName>(
    name: Name,
    tableOf: (run: NonNullable<ReturnType<typeof runOf<Name>>>) => readonly string[],
    more: (run: NonNullable<ReturnType<typeof runOf<Name>>>) => string | null = () => null,
  ): readonly string[] => {
    const run = runOf(runsOf(kept), name);
    if (run === undefined) return [];
    return [...heading(name), ...opening(kept, run), ...paragraph(more(run)), ...tableOf(run)];
  };
  return [
    ...BACKLOGS.flatMap((name) => section(name, backlogTable, () => FROM_THE_START)),
    ...section("latency", latencyTable),
    ...section("publish", publishTable),
    ...section("fairness", fairnessTable, ({ ratios }) =>
      together(
        BESIDE_A_FLOOD,
        says(ratios, {
          p99: "beside a flood that is worked off, p99 is $ what it is without",
          p99Flooding: "beside one that is being published, $",
        }),
      ),
    ),
    ...section("history", historyTable, ({ ratios }) =>
      together(
        WARM_ROWS,
        says(ratios, {
          order: "an order with a long past goes $ as fast as one with a short past",
          inbox: "with a large inbox everything goes $ as fast as with a small one",
          open: "beside many open orders $ as fast as beside few",
        }),
      ),
    ),
    ...section("growth", growthTable),
    ...section("memory", memoryTable, ({ ratios, results }) =>
      together(
        says(ratios, { resident: "after the most events the worker keeps $ what it kept after the fewest" }),
        `The difference is ${bytes((results.at(-1)?.residentBytes ?? 0) - (results[0]?.residentBytes ?? 0))}.`,
      ),
    ),
    ...section("relay", relayTable, ({ ratios }) =>
      says(ratios, { relay: "the relay is $ as fast as the worker whose commits it passes on" }),
    ),
    ...section(
      "gateway",
      gatewayTable,
      () => "Nobody works the events off meanwhile. One event a call: 32 calls under way; 64 a call: four.",
    ),
    ...troubleSection(kept),
    ...costSection(kept),
  ];
}

/** One sentence of the ratios that there are; `$` stands for each. */
function says(
  ratios: Readonly<Record<string, number>>,
  sentences: Readonly<Record<string, string>>,
): string | null {
  const parts = Object.entries(sentences).flatMap(([name, text]) => {
    const value = ratios[name];
    return value === undefined ? [] : [text.replace("$", () => times(value))];
  });
  const [first = "", ...others] = parts;
  return parts.length === 0
    ? null
    : `${[first.charAt(0).toUpperCase() + first.slice(1), ...others].join("; ")}.`;
}

function together(...sentences: readonly (string | null)[]): string {
  return sentences.filter((sentence) => sentence !== null).join(" ");
}

/** A killed holder and a failed event belong together: both ask how long a key stands still, and what becomes of it. */
function troubleSection(kept: Kept): readonly string[] {
  const recovery = runOf(runsOf(kept), "recovery");
  const retries = runOf(runsOf(kept), "retries");
  if (recovery === undefined && retries === undefined) return [];
  return [
    ...heading("recovery and retries"),
    ...(recovery === undefined ? [] : opening(kept, recovery)),
    ...(retries === undefined ? [] : opening(kept, retries)),
    ...paragraph(
      "“Overtook it” counts events of the key that were published after the failing one and decided before it.",
      "Each contender ran twice: with the settings it comes with, and with those that make it notice trouble soonest.",
    ),
    ...troubleTable(recovery, retries),
  ];
}

function costSection(kept: Kept): readonly string[] {
  const runs = BACKLOGS.flatMap((name) => runOf(runsOf(kept), name) ?? []);
  if (runs.length === 0) return [];
  return [
    ...heading("What an event costs"),
    ...paragraph(
      "CPU is that of the rounds above. Calls and trips were counted in a round of their own, by proxies between the process and the servers, whose times are not used.",
      "A call is a command sent; a trip is a time the process sent something and waited, however many commands went together.",
    ),
    ...runs.flatMap((run) => [...heading(run.workload, 3), ...costTable(run)]),
  ];
}

function opening(kept: Kept, run: Run<unknown>): readonly string[] {
  const entry = kept.workloads.find((one) => one.run === run);
  if (entry === undefined) return [];
  const what = `${entry.what.charAt(0).toUpperCase()}${entry.what.slice(1).replace(/\.$/u, "")}.`;
  return [
    ...paragraph(
      what,
      `${counted(run.events, "event")}, ${counted(run.rounds, "round")}, seed ${run.seed}; whoever took longer than ${duration(entry.withinMs)} for a round was cut off.`,
      leftOut(kept, run),
      kept.sittings.length > 1 ? `Sitting ${entry.sitting + 1}.` : null,
    ),
    `![${run.workload}](benchmarks/${run.workload}.svg)`,
    "",
  ];
}

/** Where others are measured at all, whom one misses. */
function leftOut(kept: Kept, run: Run<unknown>): string | null {
  const here = namesIn(run);
  const names = measuredIn(kept).flatMap(({ name }) => (here.has(name) ? [] : [name]));
  return here.size === 0 || names.length === 0 ? null : `Not measured here: ${listed(names)}.`;
}

/** None where Junban is measured alone. */
function namesIn({ results }: Run<unknown>): ReadonlySet<string> {
  const names = (results as readonly { readonly name?: string }[]).map(({ name }) => name);
  return new Set(names.filter((name) => name !== undefined));
}

/** Junban, and who has a row somewhere. */
function measuredIn(kept: Kept): readonly KeptContender[] {
  const names = new Set(runsOf(kept).flatMap((run) => [...namesIn(run)]));
  return kept.contenders.filter(({ name }) => name === OWN || names.has(name));
}

/** Who was measured. */
export function contendersSection(kept: Kept): readonly string[] {
  return [
    ...heading("Who was measured"),
    ...table(
      ["name", "what", "version", "promises for one order"],
      measuredIn(kept).map(({ name, what, version, promises }) => [name, what, version, promises]),
      { left: 4 },
    ),
    ...paragraph(
      "Those that apply nothing, or have no queue, are ceilings: they show how far the carrier or the database goes on this machine.",
    ),
  ];
}

/** As what each was set up, and why so. */
export function settingsSection(kept: Kept): readonly string[] {
  return [
    ...heading("Settings of the contenders"),
    ...paragraph(
      "Each is set up as its own documentation advises. Where that gives no number for the jobs in hand at once, several were tried in one short run each, and the one that served it best on the whole was taken. A setting without a source is a default left alone, or ours to choose.",
    ),
    ...measuredIn(kept)
      .filter(({ settings }) => settings.length > 0)
      .flatMap(({ name, settings }) => [
        ...heading(name, 3),
        ...table(
          ["setting", "value", "why", "source"],
          settings.map((setting) => [
            `\`${setting.name}\``,
            setting.value,
            setting.why,
            setting.source ?? "–",
          ]),
          { left: 4 },
        ),
      ]),
  ];
}
