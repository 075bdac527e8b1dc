import type { Exploration, Finding } from "../support/exploration.ts";
import type { ExploreOptions } from "./options.ts";
import { findingLines, summaryJson, summaryLines } from "./report.ts";
import type { Explored } from "./rounds.ts";
import { goRound } from "./rounds.ts";

export interface Output {
  /** A line for people. */
  readonly say: (line: string) => void;
  /** The line for scripts, with `--json`. */
  readonly print: (line: string) => void;
}

export const EXIT = { nothingFound: 0, found: 1, usage: 2, noServer: 3, interrupted: 130 } as const;

/** A slice may take less than a second, and nobody reads so fast. */
const SAY_EVERY_MS = 5_000;

/** Explores, or replays one schedule, and answers with the exit code. */
export async function explore(
  explorations: readonly Exploration[],
  options: ExploreOptions,
  { signal, ...output }: Output & { readonly signal: AbortSignal },
): Promise<number> {
  const { seed, path } = options;
  if (path !== null) return replay(explorations, { seed, path }, output);
  output.say(
    `${explorations.map(({ name }) => name).join(", ")} for ${options.minutes} minutes from seed ${seed}`,
  );
  const startedAtMs = performance.now();
  let saidAtMs = startedAtMs;
  const explored = await goRound({
    explorations,
    seed,
    forMs: options.minutes * 60_000,
    signal,
    onSlice: ({ name, schedules }, sliceSeed) => {
      if (performance.now() - saidAtMs < SAY_EVERY_MS) return;
      saidAtMs = performance.now();
      const seconds = Math.round((saidAtMs - startedAtMs) / 1_000);
      output.say(`${seconds} s  ${name} ${schedules} schedules, the last slice from seed ${sliceSeed}`);
    },
  });
  for (const line of summaryLines(explorations, explored, seed)) output.say(line);
  if (explored.finding !== null) for (const line of findingLines(explored.finding)) output.say(line);
  if (options.json) output.print(JSON.stringify(summaryJson(explorations, explored, seed)));
  return exitCodeOf(explored);
}

async function replay(
  explorations: readonly Exploration[],
  schedule: { readonly seed: number; readonly path: string },
  { say }: Output,
): Promise<number> {
  let found: Finding | null = null;
  for (const exploration of explorations) found ??= await exploration.replay(schedule);
  if (found === null) say("this schedule breaks nothing");
  else for (const line of findingLines(found)) say(line);
  return found === null ? EXIT.nothingFound : EXIT.found;
}

function exitCodeOf({ ended }: Explored): number {
  switch (ended) {
    case "time":
      return EXIT.nothingFound;
    case "found":
      return EXIT.found;
    case "stopped":
      return EXIT.interrupted;
  }
}
