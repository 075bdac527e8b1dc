import type { Answer } from "./checker.ts";
import type { Task } from "./questions.ts";

/** What an answer means: what is promised holds or a guard that was taken out is missed, as it must be, or not. */
export interface Verdict {
  readonly task: Task;
  readonly answer: Answer;
  readonly tookMs: number;
  /** Null when it is as it must be. */
  readonly wrong: string | null;
}

export function verdictOn(task: Task, answer: Answer, tookMs: number): Verdict {
  return { task, answer, tookMs, wrong: wrongWith(task, answer) };
}

function wrongWith(task: Task, answer: Answer): string | null {
  if (answer.kind === "open") return answer.why;
  if (task.kind !== "mutation") {
    return answer.kind === "holds" ? null : `${answer.promise} is broken`;
  }
  const { breaks } = task.mutation;
  if (answer.kind === "holds") return `nothing breaks: ${breaks} should`;
  return answer.promise === breaks ? null : `${answer.promise} is broken instead of ${breaks}`;
}

const NAME_WIDTH = 30;

/** One line for people. */
export function lineOf({ task, answer, tookMs, wrong }: Verdict): string {
  const took = `${(tookMs / 1_000).toFixed(1)} s`;
  const name = task.question.name.padEnd(NAME_WIDTH);
  if (wrong !== null) return `WRONG   ${name} ${wrong}; ${took}`;
  if (task.kind === "spare") return `spared  ${name} everything holds without it; ${took}`;
  if (answer.kind === "holds") {
    const { states, depth } = answer;
    const what = task.question.progress ? "promises and progress" : "promises";
    return `holds   ${name} ${what}; ${states.toLocaleString("en-US")} states, ${depth} deep; ${took}`;
  }
  if (answer.kind === "broken") return `missed  ${name} ${answer.promise} breaks; ${took}`;
  return `open    ${name} ${took}`;
}
