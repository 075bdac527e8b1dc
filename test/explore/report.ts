import type { Exploration, Finding } from "../support/exploration.ts";
import { replayCommand } from "../support/exploration.ts";
import type { Explored } from "./rounds.ts";

const HOW_IT_ENDED = {
  time: "nothing found",
  found: "something was found",
  stopped: "stopped before its time was over; nothing found so far",
} as const;

/** What happened and how often, so that a person sees that nothing was idle. */
export function summaryLines(
  explorations: readonly Exploration[],
  explored: Explored,
  seed: number,
): string[] {
  const all = totalsOf(explorations);
  const lines = explorations.flatMap(({ name, schedules, tally }) => [
    `${name}: ${schedules} schedules, ${tally.steps} steps`,
    ...Object.entries(tally.counts()).map(
      ([kind, count]) => `  ${String(count).padStart(9)}  ${kind}${count === 0 ? "  <- never" : ""}`,
    ),
  ]);
  const seconds = Math.round(explored.tookMs / 1_000);
  return [
    ...lines,
    `${all.schedules} schedules with ${all.steps} steps in ${seconds} s from seed ${seed}: ${HOW_IT_ENDED[explored.ended]}`,
  ];
}

function totalsOf(explorations: readonly Exploration[]): { schedules: number; steps: number } {
  return {
    schedules: explorations.reduce((sum, { schedules }) => sum + schedules, 0),
    steps: explorations.reduce((sum, { tally }) => sum + tally.steps, 0),
  };
}

/** A finding, and how to see it again. */
export function findingLines(finding: Finding): string[] {
  return [finding.broken, finding.report, `Replay: ${replayCommand(finding)}`];
}

/** The same as one object, for scripts. */
export function summaryJson(explorations: readonly Exploration[], explored: Explored, seed: number): object {
  const { ended, finding, tookMs } = explored;
  return {
    seed,
    ended,
    tookMs: Math.round(tookMs),
    ...totalsOf(explorations),
    explorations: explorations.map(({ name, schedules, tally }) => ({
      name,
      schedules,
      steps: tally.steps,
      counts: tally.counts(),
      idle: tally.idle(),
    })),
    finding: finding === null ? null : { ...finding, replay: replayCommand(finding) },
  };
}
