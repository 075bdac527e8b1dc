import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { startProcess } from "@junban/sandbox";
import type { JsonTestResults } from "vitest/node";
import type { TestChoice } from "./guards/guard.ts";

/** How a run of one test file ended. */
export interface TestRun {
  readonly file: string;
  readonly passed: boolean;
  /** It had to be ended because its time was over. */
  readonly late: boolean;
  /** What vitest reports; null when it did not come to that. */
  readonly report: JsonTestResults | null;
  /** The end of what it wrote, for people. */
  readonly said: string;
}

export interface TestRunOptions {
  /** The copy in which it runs. */
  readonly folder: string;
  readonly file: string;
  /** Only tests whose full name holds one of these; all of the file when missing. */
  readonly titles?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly withinMs: number;
  /** Instead of the limits that the configuration gives each test and each hook, milliseconds. */
  readonly testTimeoutMs?: number;
  /** Ends the run, and everything it started, at once. */
  readonly signal: AbortSignal;
}

const VITEST = "node_modules/vitest/vitest.mjs";

/** Runs one test file in a process tree of its own, up to its first red test. @throws the signal's reason */
export async function runTests(options: TestRunOptions): Promise<TestRun> {
  const { folder, file, titles, env, withinMs, testTimeoutMs, signal } = options;
  signal.throwIfAborted();
  const reportPath = join(folder, "mutation-report.json");
  await rm(reportPath, { force: true });
  const filter = titles === undefined ? [] : ["--testNamePattern", titles.map(escaped).join("|")];
  const limit =
    testTimeoutMs === undefined ? [] : [`--testTimeout=${testTimeoutMs}`, `--hookTimeout=${testTimeoutMs}`];
  const tree = await startProcess({
    command: process.execPath,
    args: [
      VITEST,
      "run",
      file,
      "--bail=1",
      "--reporter=json",
      `--outputFile=${reportPath}`,
      ...filter,
      ...limit,
    ],
    cwd: folder,
    env: { ...env, NO_COLOR: "1" },
  });
  let late = false;
  const end = (): void => void tree.stop({ graceMs: 2_000 });
  const timer = setTimeout(() => {
    late = true;
    end();
  }, withinMs);
  signal.addEventListener("abort", end, { once: true });
  const { code } = await tree.exited;
  clearTimeout(timer);
  signal.removeEventListener("abort", end);
  // Whatever a test left running must not meet the next guard.
  await tree.stop();
  signal.throwIfAborted();
  const said = `${tree.stdout()}\n${tree.stderr()}`.trim().slice(-2_000);
  return { file, passed: code === 0, late, report: await readReport(reportPath), said };
}

async function readReport(path: string): Promise<JsonTestResults | null> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as JsonTestResults;
  } catch {
    return null;
  }
}

export function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** Tests to run of each file, so that a file named by several guards runs once. */
export function byFile(choices: readonly TestChoice[]): ReadonlyMap<string, readonly string[] | undefined> {
  const files = new Map<string, readonly string[] | undefined>();
  for (const { file, title } of choices) {
    const known = files.get(file);
    const isWhole = title === undefined || (files.has(file) && known === undefined);
    files.set(file, isWhole ? undefined : [...new Set([...(known ?? []), title])]);
  }
  return files;
}
