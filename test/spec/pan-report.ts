/** What a search met: a promise that does not hold at some step, a run in which progress ends, or a mistake of the model. */
export interface Violation {
  readonly kind: "promise" | "progress" | "mistake";
  /** In pan's words. */
  readonly text: string;
}

/** What a finished search says about itself. */
export interface PanReport {
  readonly states: number;
  readonly depth: number;
  readonly violation: Violation | null;
  /** Null when every state was looked at. */
  readonly incomplete: string | null;
}

const LIMITS: readonly (readonly [pattern: RegExp, says: string])[] = [
  [/max search depth too small/, "a run was longer than the search may go"],
  [/reached -DMEMLIM bound|out of memory/, "the memory for states is used up"],
  [/hash-?table full/, "the table of states is full"],
];

/** Reads what pan printed; null when that is no report of a search. */
export function readPanReport(output: string): PanReport | null {
  const depth = /depth reached (\d+), errors: (\d+)/.exec(output);
  const states = /(\d+(?:\.\d+e\+\d+)?) states, stored/.exec(output);
  if (depth === null || states === null) return null;
  const violation = violationIn(output);
  return {
    states: Number(states[1]),
    depth: Number(depth[1]),
    violation,
    incomplete: limitIn(output) ?? (violation === null && depth[2] !== "0" ? "it stopped early" : null),
  };
}

function violationIn(output: string): Violation | null {
  const text = /^pan:\d+: (.+?)(?: \(at depth .*\))?$/m.exec(output)?.[1];
  if (text === undefined) return null;
  if (text.startsWith("acceptance cycle")) return { kind: "progress", text };
  return { kind: text.startsWith("assertion violated 0") ? "promise" : "mistake", text };
}

function limitIn(output: string): string | null {
  const limit = LIMITS.find(([pattern]) => pattern.test(output));
  if (limit !== undefined) return limit[1];
  const stoppedAtViolation = /^pan:\d+: /m.test(output);
  return !stoppedAtViolation && output.includes("Search not completed") ? "it was not completed" : null;
}
