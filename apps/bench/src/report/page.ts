import { conclusion, targetsSection } from "./conclusion.ts";
import type { Kept } from "./kept.ts";
import { paragraph } from "./markdown.ts";
import { methodSection } from "./method.ts";
import { contendersSection, settingsSection, workloadSections } from "./sections.ts";

/** What is written by hand: by the id of a target, what stands in the way of it. */
export type Notes = Readonly<Record<string, string>>;

/** docs/benchmarks.md as a whole. The same results and notes always give the same text. */
export function pageOf(kept: Kept, notes: Notes): string {
  const lines = [
    "<!-- Written by `npm run bench:report` from benchmarks/results.json and benchmarks/notes.json. Changes made here are lost. -->",
    "",
    "# Benchmarks",
    "",
    ...paragraph(
      "How fast Junban works off events, beside other ways to apply events of one order one after another, and what each of them does to the order.",
      "This page is written by a program from one run; nothing in it is edited by hand but the remarks on what fell short.",
    ),
    ...warnings(kept),
    ...conclusion(kept),
    ...contendersSection(kept),
    ...targetsSection(kept, notes),
    ...methodSection(kept),
    ...workloadSections(kept),
    ...settingsSection(kept),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function warnings({ quick, sittings, workloads }: Kept): readonly string[] {
  const machines = new Set(workloads.map(({ run }) => JSON.stringify(run.machine)));
  return [
    ...(quick
      ? paragraph("> **A quick run**, which shows that everything works. Its figures mean nothing.")
      : []),
    ...(sittings.length > 1
      ? paragraph(
          `> These figures are of ${sittings.length} sittings: compare within a workload, and be careful across workloads.`,
        )
      : []),
    ...(machines.size > 1 ? paragraph("> These figures are of different machines or server versions.") : []),
  ];
}
