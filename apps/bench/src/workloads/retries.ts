import type { RetryRow } from "../results.ts";
import { runMishap, type Mishap } from "./mishaps/mishap.ts";
import { rowsOf, runOf, tableOf } from "./mishaps/rows.ts";
import type { Workload } from "./workload.ts";

const FAILS_ONCE: Mishap = {
  name: "retries",
  // Others would only hide what the process that met the trouble does about it.
  processes: 1,
  variable: "BENCH_FAIL_ONCE",
  says: "failing",
  kills: false,
};

export const retries: Workload<RetryRow> = {
  name: "retries",
  what: "one event of a key fails once by passing trouble (a peer's job throws; Junban's connections break until its store gives up): how long the key stands still, and who overtakes",
  defaultEvents: 40,
  inReport: { withinMs: 40_000 },
  run: async (stage) => runOf("retries", rowsOf(await runMishap(FAILS_ONCE, stage), stage), stage),
  table: (run) =>
    tableOf(run, `retries: one event of a key fails once by passing trouble; slowest of ${run.rounds}`, [
      { head: "overtaken by", of: ({ overtaken }) => overtaken },
    ]),
};
