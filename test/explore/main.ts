/** Tries random schedules for as long as you like: `npm run explore -- --minutes 10`. */
import { RedisMissingError, ServerStartError } from "@junban/sandbox";
import { INTERLEAVINGS, interleavings } from "../fleet/interleavings-property.ts";
import { openLaneExploration } from "../handoff-lock/lane-property.ts";
import { EXIT, explore } from "./command.ts";
import type { ExploreOptions } from "./options.ts";
import { readOptions, usage } from "./options.ts";

const NAMES = ["lane", ...INTERLEAVINGS] as const;

async function exploreAll(options: ExploreOptions, signal: AbortSignal): Promise<number> {
  const isAsked = (name: string): boolean => options.only.length === 0 || options.only.includes(name);
  const lane = isAsked("lane") ? await openLaneExploration() : null;
  try {
    const explorations = INTERLEAVINGS.filter(isAsked).map((name) => interleavings(name));
    if (lane !== null) explorations.unshift(lane.exploration);
    const people = options.json ? process.stderr : process.stdout;
    return await explore(explorations, options, {
      signal,
      say: (line) => people.write(`${line}\n`),
      print: (line) => process.stdout.write(`${line}\n`),
    });
  } finally {
    await lane?.close();
  }
}

async function main(): Promise<number> {
  let options: ExploreOptions;
  try {
    options = readOptions(process.argv.slice(2), NAMES);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage(NAMES)}`);
    return EXIT.usage;
  }
  // A reader that has seen enough, such as head, is no trouble of ours.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const asked = new AbortController();
  // Asked again, it ends at once.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => asked.abort());
  try {
    return await exploreAll(options, asked.signal);
  } catch (error) {
    if (!(error instanceof RedisMissingError || error instanceof ServerStartError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.noServer;
  }
}

process.exitCode = await main();
