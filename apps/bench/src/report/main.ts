/** Measures everything and writes docs/benchmarks.md: `npm run bench:report`. */
import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startSandbox } from "@junban/sandbox";
import { EXIT } from "@junban/service";
import { CONTENDERS } from "../contenders/index.ts";
import { exitCodeOf } from "../ending.ts";
import { machineOf } from "../machine.ts";
import { WORKLOADS } from "../workloads/index.ts";
import { QUICK_WORKLOADS } from "../workloads/quick.ts";
import { brokenPromises } from "./broken-promises.ts";
import { readKept, runsOf, writeKept, type Sitting } from "./kept.ts";
import { measure, type Measurement } from "./measure.ts";
import { helpOf, readOptions, type ReportOptions } from "./options.ts";
import { publish, readNotes, resultsFile, type Places } from "./published.ts";
import { unexplained } from "./targets.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function work(options: ReportOptions, signal: AbortSignal): Promise<number> {
  const places = await placesOf(options);
  const { kept, failed } = options.draw
    ? { kept: await readKept(resultsFile(places)), failed: [] }
    : await measured(options, { places, signal });
  if (kept === null) {
    say(`there are no results in ${resultsFile(places)} to draw`);
    return options.draw ? EXIT.usage : EXIT.wrong;
  }
  for (const file of await publish(kept, places)) say(`wrote ${file}`);
  const open = unexplained(kept, await readNotes(places));
  if (open.length > 0) {
    say(`short of what was reached for, and notes.json does not say why: ${open.join(", ")}`);
  }
  const broken = runsOf(kept).flatMap(brokenPromises);
  for (const sentence of broken) say(sentence);
  if (failed.length > 0) say(`broke off: ${failed.join(", ")}; --resume runs what is missing`);
  return broken.length + failed.length === 0 ? EXIT.done : EXIT.wrong;
}

async function placesOf({ out, quick }: ReportOptions): Promise<Places> {
  if (out !== null) return { folder: resolve(out), readme: null };
  // Figures that mean nothing never get among those that do.
  if (quick) return { folder: await mkdtemp(join(tmpdir(), "junban-bench-")), readme: null };
  return { folder: join(ROOT, "docs"), readme: join(ROOT, "README.md") };
}

async function measured(
  { quick, only, resume }: ReportOptions,
  { places, signal }: { readonly places: Places; readonly signal: AbortSignal },
): Promise<Measurement> {
  const file = resultsFile(places);
  const there = await readKept(file);
  const sitting = await sittingNow();
  say("starting Postgres and Redis, which are thrown away afterwards");
  const sandbox = await startSandbox();
  try {
    const machine = await machineOf(sandbox);
    return await measure({
      workloads: (quick ? QUICK_WORKLOADS : WORKLOADS).filter(
        ({ name }) => only === null || only.includes(name),
      ),
      before: resume ? there : null,
      again: only ?? [],
      quick,
      sitting,
      earlier: there?.quick === quick ? there.workloads : [],
      stage: { sandbox, machine, contenders: CONTENDERS, say, signal },
      keep: async (kept) => {
        await writeKept(file, kept);
        say(`kept in ${file}; after an interruption --resume goes on from here`);
      },
    });
  } finally {
    await sandbox.stop();
  }
}

async function sittingNow(): Promise<Sitting> {
  const startedAt = new Date().toISOString();
  const git = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)("git", ["-C", ROOT, ...args])).stdout.trim();
  // What this command writes itself is no change of the code it measures.
  const written = ["docs/benchmarks", "docs/benchmarks.md", "README.md"].map((path) => `:!${path}`);
  try {
    const commit = await git("rev-parse", "--short=12", "HEAD");
    return { startedAt, commit, changed: (await git("status", "--porcelain", "--", ".", ...written)) !== "" };
  } catch {
    return { startedAt, commit: null, changed: false };
  }
}

/** The command's exit code. */
async function run(args: readonly string[]): Promise<number> {
  const options = readOptions(args, WORKLOADS);
  if (options === null) {
    process.stdout.write(helpOf(WORKLOADS));
    return EXIT.done;
  }
  if (typeof options === "string") {
    say(options);
    return EXIT.usage;
  }
  return exitCodeOf(async (signal) => work(options, signal));
}

process.exitCode = await run(process.argv.slice(2));
