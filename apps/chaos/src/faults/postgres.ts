import { setTimeout as pause } from "node:timers/promises";
import { CALM_MS, type Fault, SERVICE_BOUND_MS } from "./fault.ts";

const LONGEST_AWAY_MS = 3_000;
const CUT_MS = 3_000;
const COMMIT_CUT_MS = 2_000;
/** Of the transactions that pass while COMMITs are cut, one in so many is hit. */
const ONE_COMMIT_IN = 4;
const SLOW_MS = 150;
const SLOW_FOR_MS = 3_000;
const TERMINATE_FOR_MS = 1_500;
const TERMINATE_EVERY_MS = 10;

export const postgresRestart: Fault = {
  name: "postgres-restart",
  does: "ends Postgres and starts it again after up to three seconds",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: CALM_MS,
  strike: async (stage, { random }) => {
    const awayMs = random.whole(0, LONGEST_AWAY_MS);
    await stage.postgresServer.restart({ awayMs });
    return { says: `Postgres was away for ${(awayMs / 1_000).toFixed(1)} s`, sinceMs: performance.now() };
  },
};

export const postgresCut: Fault = {
  name: "postgres-cut",
  does: "lets all packets between workers and Postgres vanish in the middle of a statement, for three seconds",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: CALM_MS,
  strike: async (stage, { signal }) => {
    const { workersPostgres } = stage;
    // The statement is on its way to the server; its answer will never come.
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      workersPostgres.onData((direction) => {
        if (direction === "toClient") return "pass";
        workersPostgres.drop("toClient");
        resolve();
        return "pass";
      });
    });
    workersPostgres.onData(undefined);
    workersPostgres.drop();
    await pause(CUT_MS, undefined, { signal });
    workersPostgres.heal();
    return { says: `packets of Postgres vanished for ${CUT_MS / 1_000} s`, sinceMs: performance.now() };
  },
};

export const commitCut: Fault = {
  name: "commit-cut",
  does: "cuts connections at COMMIT: before it arrives, and after it arrived and before its reply",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 2,
  calmMs: CALM_MS,
  strike: async (stage, { struck, random, signal }) => {
    const before = struck % 2 === 0;
    let cuts = 0;
    stage.workersPostgres.onData((direction, chunk) => {
      // The statement is sent by its name, which is lower case; the server answers with the command's, which is not.
      const isHere = direction === (before ? "toServer" : "toClient");
      const isCommit = (before ? /commit/u : /COMMIT/u).test(chunk.toString("latin1"));
      if (!isHere || !isCommit) return "pass";
      if (!random.chance(1 / ONE_COMMIT_IN)) return "pass";
      cuts += 1;
      return "cut";
    });
    await pause(COMMIT_CUT_MS, undefined, { signal });
    stage.workersPostgres.onData(undefined);
    if (cuts === 0) stage.wrong(`no COMMIT passed within ${COMMIT_CUT_MS / 1_000} s, so none could be cut`);
    const where = before ? "before it arrived" : "after it arrived and before its reply";
    return { says: `${cuts} connections were cut at COMMIT, ${where}`, sinceMs: performance.now() };
  },
};

export const backendTerminate: Fault = {
  name: "backend-terminate",
  does: "ends sessions of Postgres in the middle of their transactions (pg_terminate_backend)",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: CALM_MS,
  strike: async (stage) => {
    const untilMs = performance.now() + TERMINATE_FOR_MS;
    let ended = 0;
    // A transaction takes a millisecond or two; with slower answers there is one to be met.
    stage.workersPostgres.delayMs(TERMINATE_EVERY_MS);
    while (performance.now() < untilMs) {
      ended += await stage.postgresServer.terminateSessions({
        database: stage.databaseUrl,
        inTransaction: true,
      });
      await pause(TERMINATE_EVERY_MS);
    }
    stage.workersPostgres.delayMs(0);
    if (ended === 0) stage.wrong("no session was in a transaction, so none could be ended");
    return { says: `${ended} sessions were ended in their transactions`, sinceMs: performance.now() };
  },
};

export const slowDatabase: Fault = {
  name: "slow-database",
  does: "makes each answer of Postgres take 150 milliseconds longer, for three seconds",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: CALM_MS,
  strike: async (stage, { signal }) => {
    stage.workersPostgres.delayMs(SLOW_MS);
    await pause(SLOW_FOR_MS, undefined, { signal });
    stage.workersPostgres.delayMs(0);
    return { says: `Postgres was slow for ${SLOW_FOR_MS / 1_000} s`, sinceMs: performance.now() };
  },
};
