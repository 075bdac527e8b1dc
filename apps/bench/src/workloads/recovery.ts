import type { RecoveryRow } from "../results.ts";
import { runMishap, type Mishap } from "./mishaps/mishap.ts";
import { rowsOf, runOf, tableOf } from "./mishaps/rows.ts";
import type { Workload } from "./workload.ts";

const HOLDER_KILLED: Mishap = {
  name: "recovery",
  // The second one is there all the time, so nothing is measured of starting a process.
  processes: 2,
  variable: "BENCH_HANG_ON",
  says: "holding",
  kills: true,
};

export const recovery: Workload<RecoveryRow> = {
  name: "recovery",
  what: "the process that holds a key is killed (SIGKILL) in the middle of an event: how long the key stands still",
  defaultEvents: 40,
  inReport: { withinMs: 40_000 },
  run: async (stage) => runOf("recovery", rowsOf(await runMishap(HOLDER_KILLED, stage), stage), stage),
  table: (run) =>
    tableOf(
      run,
      `recovery: the holder of a key is killed while others of that key wait; slowest of ${run.rounds}`,
    ),
};
