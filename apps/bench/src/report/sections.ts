import type { Run } from "../results.ts";
import { counted, duration, times, whole } from "./figures.ts";
import { runsOf, type Kept } from "./kept.ts";
import { heading, paragraph, table } from "./markdown.ts";
import { BACKLOGS, runOf, type WorkloadName } from "./rows.ts";
import {
  backlogTable,
  costTable,
  fairnessTable,
  growthTable,
  historyTable,
  latencyTable,
  memoryTable,
  publishTable,
  troubleTable,
} from "./tables.ts";

const FROM_THE_START =
  "p50 and p99 are from the moment the backlog was let go to the decision of an event, not from its publication.";

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
      says(ratios, {
        p99: "beside a flood that is worked off, p99 is $ what it is without",
        p99Flooding: "beside one that is being published, $",
      }),
    ),
    ...section("history", historyTable, ({ ratios }) =>
      says(ratios, {
        order: "an order with a long past goes $ as fast as one with a short past",
        inbox: "with a large inbox everything goes $ as fast as with a small one",
      }),
    ),
    ...section("growth", growthTable),
    ...section("memory", memoryTable, ({ ratios }) =>
      says(ratios, { resident: "after the most events the worker keeps $ what it kept after the fewest" }),
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
      kept.sittings.length > 1 ? `Sitting ${entry.sitting + 1}.` : null,
    ),
    `![${run.workload}](benchmarks/${run.workload}.svg)`,
    "",
  ];
}

/** Who was measured. */
export function contendersSection({ contenders }: Kept): readonly string[] {
  return [
    ...heading("Who was measured"),
    ...table(
      ["name", "what", "version", "promises for one order"],
      contenders.map(({ name, what, version, promises }) => [name, what, version, promises]),
      { left: 4 },
    ),
    ...paragraph(
      "Those that apply nothing, or have no queue, are ceilings: they show how far the carrier or the database goes on this machine.",
    ),
  ];
}

/** As what each was set up, and why so. */
export function settingsSection({ contenders }: Kept): readonly string[] {
  return [
    ...heading("Settings of the contenders"),
    ...paragraph(
      "Each is set up as its own documentation advises, and nowhere worse than its defaults. A setting without a source is a default left alone, or ours to choose.",
    ),
    ...contenders
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

/** How it was measured, on what, and how to do it again. */
export function methodSection(kept: Kept): readonly string[] {
  const machines = [
    ...new Map(runsOf(kept).map(({ machine }) => [JSON.stringify(machine), machine])).values(),
  ];
  return [
    ...heading("How it was measured"),
    ...paragraph(
      "Everything runs on one machine: the contender's process, the producer, Redis and Postgres, on throwaway servers with their durability on.",
      "Every contender gets the same events in the same order, and applies each with the same code on the same tables (Junban in batches, the peers one by one), so that what differs is how events get from the producer to that code.",
      "Whether something is out of order, lost or doubled is read from the rows in Postgres afterwards, and compared with a fold of the published order.",
    ),
    ...paragraph(
      "A round begins on a fresh database and fresh keys. The process is warmed up with events of other orders and then stopped (SIGSTOP); the backlog is published; the process is let go (SIGCONT), and the time runs until nothing is left.",
      "Contenders take turns, another one first in each round. Rates and latencies are medians of the rounds, counts of harm are sums.",
    ),
    ...paragraph(
      "Quote ratios rather than times: both sides of a ratio met the same machine on the same day.",
    ),
    ...table(
      ["machine", "cores", "memory", "Node", "Postgres", "Redis"],
      machines.map((machine) => [
        machine.system,
        whole(machine.cores),
        `${(machine.memoryBytes / 1_073_741_824).toFixed(1)} GiB`,
        machine.node,
        machine.postgres,
        machine.redis,
      ]),
    ),
    ...table(
      ["sitting", "began", "at commit", "workloads"],
      kept.sittings.map((sitting, index) => [
        String(index + 1),
        `${sitting.startedAt.slice(0, 16).replace("T", " ")} UTC`,
        `${sitting.commit ?? "unknown"}${sitting.changed ? ", with changes that were not committed" : ""}`,
        kept.workloads
          .filter((entry) => entry.sitting === index)
          .map(({ run }) => run.workload)
          .join(", "),
      ]),
      { left: 4 },
    ),
    ...heading("To do it again", 3),
    "```",
    "npm run bench:report                                # everything, and this page",
    "npm run bench -- --workload hot --peers groupmq     # one workload; --help tells the others",
    "```",
    "",
  ];
}
