/** Breaks a running fleet on purpose and counts what came of it: `npm run chaos -- --fault kill-holder`. */
import { constants } from "node:os";
import {
  NoUnprivilegedUserError,
  PostgresMissingError,
  RedisMissingError,
  ServerStartError,
} from "@junban/sandbox";
import { EXIT } from "@junban/service";
import { type ChaosOptions, HELP, readOptions } from "./options.ts";
import { jsonOf, tableOf } from "./report.ts";
import { runFault, type RunReport } from "./run.ts";
import { startServers, type Closings } from "./stage.ts";

/** Thrown into everything that waits when a person, or a supervisor, ends the run. */
class InterruptedError extends Error {
  readonly code = "INTERRUPTED";
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`${signal}: everything was taken down`);
    this.name = "InterruptedError";
    this.exitCode = 128 + constants.signals[signal];
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

async function breakIt({ faults, seconds, seed, json }: ChaosOptions, signal: AbortSignal): Promise<number> {
  const startedMs = performance.now();
  const say = (line: string): void => {
    const elapsed = ((performance.now() - startedMs) / 1_000).toFixed(1).padStart(6);
    process.stderr.write(`${elapsed} s  ${line}\n`);
  };
  const closings: Closings = [];
  const reports: RunReport[] = [];
  try {
    say(`seed ${seed}; starting Postgres and Redis, which are thrown away afterwards`);
    const servers = await startServers(closings);
    for (const fault of faults) {
      signal.throwIfAborted();
      say(`${fault.name}: it ${fault.does}`);
      const sayOfFault = (line: string): void => say(`${fault.name}: ${line}`);
      const report = await runFault({ fault, seconds, seed, servers, signal, say: sayOfFault });
      reports.push(report);
      for (const sentence of report.wrong) sayOfFault(`WRONG: ${sentence}`);
      sayOfFault(report.wrong.length === 0 ? "passed" : "FAILED");
      if (json) process.stdout.write(`${JSON.stringify(jsonOf(report))}\n`);
    }
  } finally {
    for (const close of closings.toReversed()) await close().catch(() => undefined);
  }
  (json ? process.stderr : process.stdout).write(`${tableOf(reports).join("\n")}\n`);
  return reports.every(({ wrong }) => wrong.length === 0) ? EXIT.done : EXIT.wrong;
}

function endingOf(error: unknown): { readonly code: number; readonly line: string } {
  if (error instanceof InterruptedError) return { code: error.exitCode, line: error.message };
  const isMissingServer =
    error instanceof RedisMissingError ||
    error instanceof PostgresMissingError ||
    error instanceof NoUnprivilegedUserError ||
    error instanceof ServerStartError;
  if (isMissingServer) return { code: EXIT.unreachable, line: error.message };
  return { code: EXIT.wrong, line: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

async function main(): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    options = error instanceof Error ? error.message : String(error);
  }
  if (options === null) {
    process.stdout.write(HELP);
    return EXIT.done;
  }
  if (typeof options === "string") {
    process.stderr.write(`${options}\n`);
    return EXIT.usage;
  }
  const curtain = new AbortController();
  for (const name of SIGNALS) process.on(name, () => curtain.abort(new InterruptedError(name)));
  try {
    return await breakIt(options, curtain.signal);
  } catch (error) {
    // What fails after Ctrl-C, fails because of it.
    const { code, line } = endingOf(curtain.signal.aborted ? curtain.signal.reason : error);
    process.stderr.write(`${line}\n`);
    return code;
  }
}

process.exitCode = await main();
