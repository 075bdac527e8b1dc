/** Checks the model of the lane protocol exhaustively: `npm run model`. */
import { fileURLToPath } from "node:url";
import { ModelChecker } from "./checker.ts";
import { flagsOf } from "./definition.ts";
import type { ModelOptions } from "./options.ts";
import { readOptions, USAGE } from "./options.ts";
import { tasksFor } from "./questions.ts";
import type { Task } from "./questions.ts";
import { tablesOf } from "./tables.ts";
import { findModelTools, ModelToolsMissingError, systemSearch } from "./tools.ts";
import { lineOf, verdictOn } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";
import { Waiting } from "./waiting.ts";

const MODEL_FOLDER = fileURLToPath(new URL("../../docs/spec/", import.meta.url));

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Answers with the exit code. */
async function check(options: ModelOptions, signal: AbortSignal): Promise<number> {
  const tasks = tasksFor(options);
  if (tasks.length === 0) throw new TypeError(`nothing is called “${options.only}”`);
  const print = options.json ? say : (line: string): void => void process.stdout.write(`${line}\n`);
  if (options.list) {
    for (const { question } of tasks) print(`${question.name}  ${flagsOf(question).join(" ")}`);
    return 0;
  }
  const startMs = performance.now();
  const tools = await findModelTools(systemSearch(signal));
  const { memoryMb, timeoutMs } = options;
  const checker = new ModelChecker({ tools, modelFolder: MODEL_FOLDER, memoryMb, timeoutMs, signal });
  const verdicts: Verdict[] = [];
  for (const task of tasks) {
    const verdict = await judge(checker, task);
    verdicts.push(verdict);
    print(lineOf(verdict));
    if (verdict.wrong !== null || options.trails) tell(verdict, checker, print);
  }
  if (options.table) print(tablesOf(verdicts));
  return report(verdicts, { json: options.json, print, tookMs: performance.now() - startMs });
}

async function judge(checker: ModelChecker, task: Task): Promise<Verdict> {
  const startMs = performance.now();
  const waiting = new Waiting(process.stderr, task.question.name);
  try {
    return verdictOn(task, await checker.ask(task.question), performance.now() - startMs);
  } finally {
    waiting.end();
  }
}

function tell({ task, answer }: Verdict, checker: ModelChecker, print: (line: string) => void): void {
  if (answer.kind === "broken") for (const step of ends(answer.steps)) print(`        ${step}`);
  if (answer.kind !== "holds") print(`        by hand: ${checker.commandFor(task.question)}`);
}

/** A way into a cycle may wander through hundreds of polls; where it begins and ends is what matters. */
function ends(steps: readonly string[]): readonly string[] {
  const each = 30;
  if (steps.length <= 2 * each + 1) return steps;
  return [...steps.slice(0, each), `… ${steps.length - 2 * each} steps more …`, ...steps.slice(-each)];
}

interface ReportOptions {
  readonly json: boolean;
  readonly print: (line: string) => void;
  readonly tookMs: number;
}

function report(verdicts: readonly Verdict[], { json, print, tookMs }: ReportOptions): number {
  const wrong = verdicts.filter((verdict) => verdict.wrong !== null).length;
  const count = (kind: Task["kind"]): number => verdicts.filter(({ task }) => task.kind === kind).length;
  const summary = {
    configurations: count("configuration"),
    mutations: count("mutation"),
    spares: count("spare"),
    wrong,
  };
  print(
    `${summary.configurations} configurations, ${summary.mutations + summary.spares} guards taken out, ` +
      `${wrong === 0 ? "all as it must be" : `${wrong} WRONG`}; ${Math.round(tookMs / 1_000)} s`,
  );
  if (json) {
    const results = verdicts.map(({ task, answer, tookMs: ms, wrong: why }) => ({
      kind: task.kind,
      name: task.question.name,
      flags: flagsOf(task.question),
      answer,
      tookMs: Math.round(ms),
      wrong: why,
    }));
    process.stdout.write(`${JSON.stringify({ ...summary, tookMs: Math.round(tookMs), results })}\n`);
  }
  return wrong === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  // A reader that has seen enough, such as head, is no trouble of ours.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const asked = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => asked.abort());
  try {
    return await check(readOptions(process.argv.slice(2)), asked.signal);
  } catch (error) {
    if (asked.signal.aborted) return 130;
    if (error instanceof ModelToolsMissingError) {
      say(error.message);
      return 3;
    }
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n${USAGE}`);
    return 2;
  }
}

process.exitCode = await main();
