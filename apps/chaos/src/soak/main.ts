/** Hours in minutes: a steady load with small faults, and a look at everything that could grow for ever: `npm run soak`. */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { EXIT } from "@junban/service";
import { isGood } from "@junban/trial";
import { runCommand, type Asked } from "../ending.ts";
import { wholeNumber } from "../options.ts";
import { startServers, type Closings } from "../stage.ts";
import { plotOf } from "./plot.ts";
import { soak, type SoakReport } from "./soak.ts";

const HELP = `npm run soak -- [--minutes N] [--seed N] [--plot FILE] [--json]

Keeps a fleet of its own under a steady load, on throwaway servers, with a small fault now and then, and looks at
everything that could grow for ever: memory of a worker and of Redis, connections, dead rows, keys of lanes and queues.

  --minutes N    how long (default 20; from four minutes on it is judged whether everything levelled off)
  --seed N       the same seed tells the same events and draws the same faults (default: from the clock, and printed)
  --plot FILE    where the picture goes (default soak.svg)
  --json         one line of JSON at the end of standard output; everything else goes to standard error

Exit codes: 0 everything is level, and nothing was lost, doubled, out of order or different; 1 something was not;
2 bad usage; 3 a server could not be started; 130 Ctrl-C.
`;

const MOST_MINUTES = 24 * 60;
const SEED_SPAN = 1_000_000;

interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly plot: string;
  readonly json: boolean;
}

function read(): Asked<Options> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "20" },
      seed: { type: "string", default: String(Date.now() % SEED_SPAN) },
      plot: { type: "string", default: "soak.svg" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return null;
  const minutes = Number(values.minutes);
  const seed = wholeNumber(values.seed);
  if (!(minutes > 0 && minutes <= MOST_MINUTES)) {
    return `--minutes is a number above 0 and up to ${MOST_MINUTES}`;
  }
  if (!Number.isSafeInteger(seed)) return "--seed is a whole number";
  return { minutes, seed, plot: values.plot, json: values.json };
}

async function work({ minutes, seed, plot, json }: Options, signal: AbortSignal): Promise<number> {
  const startedMs = performance.now();
  const say = (line: string): void => {
    const elapsed = ((performance.now() - startedMs) / 1_000).toFixed(0).padStart(5);
    process.stderr.write(`${elapsed} s  ${line}\n`);
  };
  const closings: Closings = [];
  try {
    // A place that cannot be written to is better found out now than in the end.
    await writeFile(plot, "");
    say(`seed ${seed}; starting Postgres and Redis, which are thrown away afterwards`);
    const servers = await startServers(closings);
    const report = await soak({ minutes, seed, servers, signal, say });
    const title = `${minutes} minutes, ${report.verdict.published} events, ${report.marks.length} faults (seed ${seed})`;
    const lines = linesOf(report);
    (json ? process.stderr : process.stdout).write(`${lines.join("\n")}\n`);
    if (json) process.stdout.write(`${JSON.stringify(jsonOf(report))}\n`);
    await writeFile(plot, plotOf(report.looks, report.marks, { title }));
    say(`the picture is in ${plot}`);
    return isLevelAndWhole(report) ? EXIT.done : EXIT.wrong;
  } finally {
    for (const close of closings.toReversed()) await close().catch(() => undefined);
  }
}

function isLevelAndWhole({ verdict, levels, recoveredMs, wrong, late }: SoakReport): boolean {
  const isLevel = levels === null || levels.every((level) => level.isLevel);
  return isGood(verdict) && isLevel && recoveredMs !== null && wrong.length === 0 && late.length === 0;
}

function jsonOf(report: SoakReport): object {
  const { minutes, seed, verdict, marks, levels, recoveredMs, wrong, late } = report;
  const { published, applied, lost, doubled, inversions, drift } = verdict;
  const counted = { published, applied, lost, doubleApplied: doubled, inversions, drift };
  return {
    minutes,
    seed,
    ...counted,
    faultsInjected: marks.length,
    recoveredMs,
    levels,
    passed: isLevelAndWhole(report),
    wrong,
    late,
  };
}

function linesOf({ verdict, marks, levels, recoveredMs, wrong, late }: SoakReport): readonly string[] {
  const { published, applied, lost, doubled, inversions, drift } = verdict;
  return [
    `published ${published}, applied ${applied}, lost ${lost}, doubled ${doubled}, inversions ${inversions}, drift ${drift}`,
    `${marks.length} faults; the longest recovery took ${recoveredMs === null ? "for ever" : `${recoveredMs} ms`}`,
    ...(levels ?? []).map(({ name, unit, before, after, isLevel }) =>
      `${isLevel ? "level " : "GROWS "} ${name.padEnd(22)} ${before.toFixed(1)} → ${after.toFixed(1)} ${unit}`.trimEnd(),
    ),
    ...(levels === null ? ["too short to tell whether anything grows"] : []),
    ...wrong.map((sentence) => `WRONG: ${sentence}`),
    ...late.map((sentence) => `LATE: ${sentence}`),
  ];
}

process.exitCode = await runCommand({ read, help: HELP, work });
