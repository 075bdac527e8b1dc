/** Takes out one guard at a time and wants a test to go red for each: `npm run mutate`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GUARDS } from "./guards/all.ts";
import { misdescribed } from "./guards/guard.ts";
import type { Guard } from "./guards/guard.ts";
import type { MutateOptions } from "./options.ts";
import { readOptions, USAGE } from "./options.ts";
import { openServers } from "./servers.ts";
import { tableOf } from "./table.ts";
import type { Trial } from "./trial.ts";
import { Trials } from "./trial.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Answers with the exit code. */
async function mutate(options: MutateOptions, signal: AbortSignal): Promise<number> {
  const guards = GUARDS.filter(({ promise, file }) => `${promise}\n${file}`.includes(options.only));
  if (options.list) {
    for (const { promise, file } of guards) process.stdout.write(`${file}  ${promise}\n`);
    return 0;
  }
  const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
  const wrong = guards.flatMap((guard) => misdescribed(guard, read));
  if (guards.length === 0) wrong.push(`no guard is called “${options.only}”`);
  for (const line of wrong) say(line);
  if (wrong.length > 0) return 1;
  const startMs = performance.now();
  const servers = await openServers(process.env);
  try {
    const trials = await Trials.open({ root: ROOT, servers, parallel: options.parallel, signal });
    try {
      const done = await tried(trials, guards);
      if (done === null) return 1;
      return report(done, options, performance.now() - startMs);
    } finally {
      await trials.close();
    }
  } finally {
    await servers.stop();
  }
}

async function tried(trials: Trials, guards: readonly Guard[]): Promise<readonly Trial[] | null> {
  say("first, every test that is named, with every guard in its place …");
  const flaws = await trials.flaws(guards);
  for (const flaw of flaws) say(`not green  ${flaw}`);
  if (flaws.length > 0) return null;
  return trials.takeOut(guards, (trial) => say(lineOf(trial)));
}

function lineOf({ guard, verdict, tookMs }: Trial): string {
  const took = `(${(tookMs / 1_000).toFixed(1)} s)`;
  switch (verdict.kind) {
    case "caught":
      return `caught  ${guard.promise}  by ${verdict.by.file} “${verdict.by.title}” ${took}`;
    case "missed":
      return `MISSED  ${guard.promise}  in ${guard.file} ${took}`;
    case "broken":
      return `BROKEN  ${guard.promise}  in ${guard.file}: ${verdict.why} ${took}`;
  }
}

function report(trials: readonly Trial[], { json, table }: MutateOptions, tookMs: number): number {
  const count = (kind: Trial["verdict"]["kind"]): number =>
    trials.filter(({ verdict }) => verdict.kind === kind).length;
  const summary = {
    guards: trials.length,
    caught: count("caught"),
    missed: count("missed"),
    broken: count("broken"),
  };
  if (table) process.stdout.write(tableOf(trials, (path) => readFileSync(join(ROOT, path), "utf8")));
  if (json) {
    const results = trials.map(({ guard, verdict }) => ({
      promise: guard.promise,
      file: guard.file,
      ...verdict,
    }));
    process.stdout.write(`${JSON.stringify({ ...summary, tookMs: Math.round(tookMs), results })}\n`);
  }
  const open = summary.missed + summary.broken;
  say(`${summary.caught} of ${summary.guards} guards caught in ${Math.round(tookMs / 1_000)} s`);
  return open === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  let options: MutateOptions;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return 2;
  }
  // A reader that has seen enough, such as head, is no trouble of ours.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const asked = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => asked.abort());
  try {
    return await mutate(options, asked.signal);
  } catch (error) {
    if (asked.signal.aborted) return 130;
    throw error;
  }
}

process.exitCode = await main();
