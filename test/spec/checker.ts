import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runBounded } from "./bounded-command.ts";
import type { CommandEnd } from "./bounded-command.ts";
import type { ModelQuestion } from "./definition.ts";
import { flagsOf } from "./definition.ts";
import { PROGRESS } from "./mutations.ts";
import { readPanReport } from "./pan-report.ts";
import { readStory } from "./story.ts";
import type { ModelTools } from "./tools.ts";

export type Answer =
  | { readonly kind: "holds"; readonly states: number; readonly depth: number }
  | {
      readonly kind: "broken";
      readonly promise: string;
      /** The way there, told step by step. */
      readonly steps: readonly string[];
      readonly states: number;
    }
  /** Neither shown nor refuted: time or memory was used up, or spin does not understand the model. */
  | { readonly kind: "open"; readonly why: string };

export interface CheckerOptions {
  readonly tools: ModelTools;
  /** Where lane.pml and its parts lie. */
  readonly modelFolder: string;
  /** For the states of one search, megabytes. Default 3,500. */
  readonly memoryMb?: number;
  /** For one search, milliseconds. Default half an hour. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

const MODEL = "lane.pml";
const PREPARE_TIMEOUT_MS = 120_000;
const MOST_STEPS = 200_000;

/** Asks spin: makes a search of the model in a folder of its own, runs it to its end, and tells a counterexample in words. */
export class ModelChecker {
  readonly #options: CheckerOptions;

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  async ask(question: ModelQuestion): Promise<Answer> {
    const folder = await mkdtemp(join(tmpdir(), "junban-model-"));
    try {
      return await this.#askIn(folder, question);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** The same search by hand, from the checkout's folder. */
  commandFor(question: ModelQuestion): string {
    const flags = flagsOf(question).join(" ");
    return [
      `cp docs/spec/*.pml "$(mktemp -d)/" && cd "$_"`,
      `spin -a ${flags} ${MODEL}`,
      `cc ${this.#compilerFlags(question).join(" ")} -o pan pan.c`,
      `./pan ${searchFlags(question).join(" ")}`,
      `spin -t -p ${flags} ${MODEL}`,
    ].join(" && ");
  }

  async #askIn(folder: string, question: ModelQuestion): Promise<Answer> {
    const { tools, modelFolder } = this.#options;
    for (const file of await readdir(modelFolder)) {
      if (file.endsWith(".pml")) await copyFile(join(modelFolder, file), join(folder, file));
    }
    const flags = flagsOf(question);
    const generated = await this.#run(folder, tools.spin, ["-a", ...flags, MODEL]);
    if (generated.code !== 0) return { kind: "open", why: `spin refuses the model:\n${generated.output}` };
    const compiled = await this.#run(folder, tools.compiler, [
      ...this.#compilerFlags(question),
      "-o",
      "pan",
      "pan.c",
    ]);
    if (compiled.code !== 0) return { kind: "open", why: `no search can be made:\n${compiled.output}` };
    const { timeoutMs = 1_800_000 } = this.#options;
    const searched = await this.#run(folder, join(folder, "pan"), searchFlags(question), timeoutMs);
    if (searched.outOfTime) return { kind: "open", why: `its ${Math.round(timeoutMs / 1_000)} s are over` };
    return this.#read(folder, question, searched);
  }

  async #read(folder: string, question: ModelQuestion, { output }: CommandEnd): Promise<Answer> {
    const report = readPanReport(output);
    if (report === null) return { kind: "open", why: `the search says nothing:\n${output.slice(-2_000)}` };
    const { states, depth, violation, incomplete } = report;
    if (violation === null) {
      return incomplete === null ? { kind: "holds", states, depth } : { kind: "open", why: incomplete };
    }
    const { tools } = this.#options;
    const replay = await this.#run(folder, tools.spin, ["-t", "-T", ...flagsOf(question), MODEL]);
    const { steps, broken } = readStory(replay.output);
    switch (violation.kind) {
      case "progress":
        return { kind: "broken", promise: PROGRESS, steps, states };
      case "promise":
        return { kind: "broken", promise: broken ?? "a promise without a name", steps, states };
      case "mistake":
        return { kind: "open", why: `the model itself is wrong: ${violation.text}` };
    }
  }

  #compilerFlags({ progress, shortest, long }: ModelQuestion): readonly string[] {
    const { memoryMb = 3_500 } = this.#options;
    // Nearly every step touches what all share, so that partial order reduction has nothing to reduce.
    const flags = [long ? "-O2" : "-O0", "-w", "-DCOLLAPSE", "-DNOREDUCE", `-DMEMLIM=${memoryMb}`];
    if (progress) return [...flags, "-DNFAIR=3"];
    return [...flags, "-DSAFETY", ...(shortest ? ["-DREACH"] : [])];
  }

  #run(
    folder: string,
    file: string,
    args: readonly string[],
    timeoutMs = PREPARE_TIMEOUT_MS,
  ): Promise<CommandEnd> {
    return runBounded(file, args, { folder, timeoutMs, signal: this.#options.signal });
  }
}

function searchFlags({ progress, shortest }: ModelQuestion): readonly string[] {
  const most = `-m${MOST_STEPS}`;
  if (progress) return ["-a", "-f", most];
  // A process that waits for ever is no error by itself: progress says which ends are.
  return shortest ? ["-E", "-i", most] : ["-E", most];
}
