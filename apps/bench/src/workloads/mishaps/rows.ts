import { columns } from "../../report/columns.ts";
import { cell, duration } from "../../report/figures.ts";
import type { RecoveryRow, RetryRow, Run } from "../../results.ts";
import type { Stage } from "../workload.ts";
import { boundMsOf, type ArmOutcome } from "./mishap.ts";

/** One row an arm: the slowest of its rounds, and the sums of what was counted. */
export function rowsOf(outcomes: readonly ArmOutcome[], stage: Stage): readonly RetryRow[] {
  return outcomes.map(({ arm, rounds }) => {
    const summed = (key: "decided" | "of" | "inversions" | "doubled" | "overtaken"): number =>
      rounds.reduce((sum, round) => sum + round[key], 0);
    const moves = rounds.map(({ movesAgainAfterMs }) => movesAgainAfterMs);
    return {
      name: arm.contender.name,
      settings: arm.settings,
      note: arm.note,
      leaseMs: arm.leaseMs,
      movesAgainAfterMs: moves.includes(null) ? null : Math.max(...moves.map(Number)),
      withinMs: boundMsOf(stage),
      decided: summed("decided"),
      of: summed("of"),
      inversions: summed("inversions"),
      doubled: summed("doubled"),
      overtaken: summed("overtaken"),
    };
  });
}

export function runOf<Row extends RecoveryRow>(
  workload: string,
  results: readonly Row[],
  { events, seed, rounds, machine }: Stage,
): Run<Row> {
  return { workload, events, seed, rounds, machine, results, ratios: ratiosOf(results) };
}

/** With the best settings of each: how many times as long as Junban a peer stands still. Left out where one never moved. */
function ratiosOf(results: readonly RecoveryRow[]): Readonly<Record<string, number>> {
  const best = results.filter(({ settings }) => settings === "best");
  const own = best.find(({ name }) => name === "junban")?.movesAgainAfterMs ?? null;
  if (own === null) return {};
  return Object.fromEntries(
    best.flatMap(({ name, movesAgainAfterMs }) =>
      name === "junban" || movesAgainAfterMs === null ? [] : [[name, movesAgainAfterMs / own]],
    ),
  );
}

/** The columns that both workloads have, and one more for what else was counted. */
export function tableOf<Row extends RecoveryRow>(
  { results }: Run<Row>,
  title: string,
  more: readonly { readonly head: string; readonly of: (row: Row) => number }[] = [],
): readonly string[] {
  const heads = ["contender", "settings", "moves again after", "decided", "inversions", "doubled"];
  const cells = results.map((row) => [
    row.name,
    row.settings,
    row.movesAgainAfterMs === null ? `not within ${duration(row.withinMs)}` : duration(row.movesAgainAfterMs),
    `${row.decided} of ${row.of}`,
    cell(row.inversions),
    cell(row.doubled),
    ...more.map(({ of }) => cell(of(row))),
  ]);
  const notes = ["what is set", ...results.map(({ note }) => note)];
  const lines = columns([[...heads, ...more.map(({ head }) => head)], ...cells]);
  return [title, ...lines.map((line, index) => `${line}  ${notes[index] ?? ""}`)];
}
