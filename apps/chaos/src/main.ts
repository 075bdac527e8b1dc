/** Breaks a running fleet on purpose and counts what came of it: `npm run chaos -- --fault kill-holder`. */
import { EXIT } from "@junban/service";
import { runCommand } from "./ending.ts";
import { type ChaosOptions, HELP, readOptions } from "./options.ts";
import { jsonOf, tableOf } from "./report.ts";
import { brokenOff, hasPassed, runFault, type RunReport } from "./run.ts";
import { startServers, type Closings } from "./stage.ts";

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
      const running = runFault({ fault, seconds, seed, servers, signal, say: sayOfFault });
      const report = await running.catch((error: unknown) => {
        signal.throwIfAborted();
        return brokenOff(fault, { seed, error });
      });
      reports.push(report);
      for (const sentence of report.wrong) sayOfFault(`WRONG: ${sentence}`);
      for (const sentence of report.late) sayOfFault(`LATE: ${sentence}`);
      sayOfFault(hasPassed(report) ? "passed" : "FAILED");
      if (json) process.stdout.write(`${JSON.stringify(jsonOf(report))}\n`);
    }
  } finally {
    for (const close of closings.toReversed()) await close().catch(() => undefined);
    // Also what was counted before somebody ended it.
    if (reports.length > 0) {
      (json ? process.stderr : process.stdout).write(`${tableOf(reports).join("\n")}\n`);
    }
  }
  return reports.every((report) => hasPassed(report)) ? EXIT.done : EXIT.wrong;
}

process.exitCode = await runCommand({
  read: () => readOptions(process.argv.slice(2)),
  help: HELP,
  work: breakIt,
});
