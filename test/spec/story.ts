const STEP = /^(?:worker \d|publisher|world|heal)\b/;
const CYCLE = "<<<<<START OF CYCLE>>>>>";

/** A counterexample, told step by step. */
export interface Story {
  readonly steps: readonly string[];
  /** The promise that was broken at its end; null when it ends in a cycle. */
  readonly broken: string | null;
}

/** Reads what spin prints while it replays a trail: the model says in plain words what each step does. */
export function readStory(replay: string): Story {
  const steps: string[] = [];
  let broken: string | null = null;
  for (const line of replay.split("\n").map((text) => text.trim())) {
    broken = /^broken: (\S+)$/.exec(line)?.[1] ?? broken;
    if (line === CYCLE) steps.push("… and from here on again and again, without an end:");
    else if (STEP.test(line)) steps.push(plain(line));
  }
  // The step that breaks a promise says what it did only when it is over.
  return { steps: broken === null ? steps : [...steps, `broken: ${broken}`], broken };
}

/** Leaves out what goes without saying: that a call fared well, and requests that are not there. */
function plain(step: string): string {
  return step
    .replace(", fine,", ",")
    .replace(/ with 0 0$/, "")
    .replace(/\b(with|commits|handoff of) (\d) 0\b/g, "$1 $2");
}
