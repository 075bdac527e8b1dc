import { type FunctionTime, type LayerTime, timesOf } from "./layers.ts";
import type { Profile } from "./profile.ts";

/** A profile as figures per event. `…Us` is microseconds. */
export interface ProfileReport extends Omit<Profile, "calls"> {
  readonly samples: number;
  readonly unseenUs: number;
  readonly layers: readonly LayerTime[];
  readonly functions: readonly FunctionTime[];
}

const TOP_FUNCTIONS = 40;
const TOP_ROWS = 24;
const STATEMENT_WIDTH = 110;

export function reportOf({ calls, ...profile }: Profile): ProfileReport {
  return { ...profile, samples: calls.samples, unseenUs: calls.unseenUs, ...timesOf(calls.root) };
}

/** What a person reads. */
export function reportText(report: ProfileReport): string {
  return [
    `${report.contender}: ${report.events} events in ${report.seconds.toFixed(2)} s, ${Math.round(report.events / report.seconds)} events/s under the profiler`,
    "",
    ...processLines(report),
    "",
    ...layerLines(report),
    "",
    ...functionLines(report),
    "",
    ...commandLines(report),
    "",
    ...statementLines(report),
    "",
  ].join("\n");
}

function processLines({ process, cpuSeconds, events }: ProfileReport): readonly string[] {
  const perEvent = (seconds: number): string => ((seconds * 1e6) / events).toFixed(0);
  const servers =
    cpuSeconds === null
      ? []
      : [`CPU µs per event: Redis ${perEvent(cpuSeconds.redis)}, Postgres ${perEvent(cpuSeconds.postgres)}`];
  if (process === null) return servers;
  const { userSeconds, systemSeconds, mainThreadSeconds, reads, writes } = process;
  return [
    `CPU µs per event: Node ${perEvent(userSeconds + systemSeconds)} (its main thread ${perEvent(mainThreadSeconds)}; in the kernel ${perEvent(systemSeconds)})`,
    ...servers,
    `system calls per event: ${(reads / events).toFixed(2)} reads, ${(writes / events).toFixed(2)} writes`,
  ];
}

function layerLines({ layers, events, samples, unseenUs }: ProfileReport): readonly string[] {
  const idle = layers.filter(({ layer }) => layer === "idle");
  const busy = layers.filter(({ layer }) => layer !== "idle");
  const wholeUs = sum(busy);
  const row = (label: string, selfUs: number, inNodeUs: number): string =>
    `${label.padEnd(24)} ${(selfUs / events).toFixed(1).padStart(9)} ${((100 * selfUs) / wholeUs).toFixed(1).padStart(6)} % ${(inNodeUs / events).toFixed(1).padStart(9)}`;
  return [
    `main thread by layer, µs per event (${samples} samples)   share   in Node's own code`,
    ...busy.slice(0, TOP_ROWS).map(({ layer, selfUs, inNodeUs }) => row(layer, selfUs, inNodeUs)),
    row(
      "together",
      wholeUs,
      busy.reduce((total, { inNodeUs }) => total + inNodeUs, 0),
    ),
    `besides: waiting for its loop ${(sum(idle) / events).toFixed(1)}, not running because others did ${(unseenUs / events).toFixed(1)}`,
  ];
}

function functionLines({ functions, layers, events }: ProfileReport): readonly string[] {
  const wholeUs = sum(layers.filter(({ layer }) => layer !== "idle"));
  return [
    "functions by their own time, µs per event",
    ...functions
      .filter(({ layer }) => layer !== "idle")
      .slice(0, TOP_FUNCTIONS)
      .map(
        ({ name, place, layer, selfUs }) =>
          `${(selfUs / events).toFixed(2).padStart(7)} ${((100 * selfUs) / wholeUs).toFixed(1).padStart(5)} %  ${name}  ${place}  [${layer}]`,
      ),
  ];
}

function commandLines({ commands, events }: ProfileReport): readonly string[] {
  return [
    "Redis by command (those inside of scripts too): calls per event, µs per call, µs per event",
    ...commands
      .slice(0, TOP_ROWS)
      .map(
        ({ command, calls, totalUs }) =>
          `${command.padEnd(20)} ${(calls / events).toFixed(3).padStart(8)} ${(totalUs / calls).toFixed(2).padStart(9)} ${(totalUs / events).toFixed(2).padStart(8)}`,
      ),
  ];
}

function statementLines({ statements, events }: ProfileReport): readonly string[] {
  const commits = statements.find(({ text }) => /^commit$/iu.test(text.trim()))?.calls ?? 0;
  return [
    `Postgres by statement: ${commits} commits, ${(events / commits).toFixed(1)} events a commit`,
    "calls per commit, rows per call, ms per call, µs per event, WAL bytes per event",
    ...statements
      .slice(0, TOP_ROWS)
      .map(({ text, calls, rows, totalMs, walBytes }) =>
        [
          (calls / commits).toFixed(2).padStart(6),
          (rows / calls).toFixed(1).padStart(8),
          (totalMs / calls).toFixed(3).padStart(9),
          ((totalMs * 1_000) / events).toFixed(2).padStart(8),
          (walBytes / events).toFixed(0).padStart(6),
          ` ${text.replaceAll(/\s+/gu, " ").slice(0, STATEMENT_WIDTH)}`,
        ].join(" "),
      ),
  ];
}

function sum(times: readonly LayerTime[]): number {
  return times.reduce((total, { selfUs }) => total + selfUs, 0);
}
