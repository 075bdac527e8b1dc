import { setTimeout as pause } from "node:timers/promises";
import { CALM_MS, type Fault, SERVICE_BOUND_MS } from "./fault.ts";
import { withStandingLines } from "./standing-lines.ts";

const SHORT_AWAY_MS = 3_000;
const LONG_AWAY_MS = 10_000;
const LONGEST_AWAY_MS = 60_000;
/** Runs shorter than this are spared the longest time away. */
const LONG_RUN_SECONDS = 120;

const FULL_MS = 3_000;
const CUT_MS = 3_000;
const FLUSHING_MS = 2_000;
const FLUSH_EVERY_MS = 20;

export const redisRestart: Fault = {
  name: "redis-restart",
  does: "ends Redis and starts it again after 3 and after 10 seconds (60 in a run of two minutes and more)",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 2,
  calmMs: CALM_MS,
  strike: async (stage, { struck, runSeconds }) => {
    const times = [SHORT_AWAY_MS, LONG_AWAY_MS, ...(runSeconds >= LONG_RUN_SECONDS ? [LONGEST_AWAY_MS] : [])];
    const awayMs = times[struck % times.length] ?? SHORT_AWAY_MS;
    await stage.redisServer.restart({ awayMs });
    return { says: `Redis was away for ${awayMs / 1_000} s`, sinceMs: performance.now() };
  },
};

export const redisScriptFlush: Fault = {
  name: "redis-script-flush",
  does: "makes Redis forget all scripts, fifty times a second",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: CALM_MS,
  strike: async (stage) => {
    const untilMs = performance.now() + FLUSHING_MS;
    let flushes = 0;
    while (performance.now() < untilMs) {
      await stage.redis.script("FLUSH");
      flushes += 1;
      await pause(FLUSH_EVERY_MS);
    }
    return { says: `Redis forgot all scripts ${flushes} times`, sinceMs: performance.now() };
  },
};

export const redisOom: Fault = {
  name: "redis-oom",
  does: "lets Redis reach its memory limit while lanes are held, for three seconds",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: CALM_MS,
  strike: async (stage) => {
    const refusedBefore = stage.flow.refused;
    await withStandingLines(stage, async () => {
      // Less than what is in use already: from now on everything that may grow memory is refused.
      await stage.redis.config("SET", "maxmemory", "1mb");
    });
    await pause(FULL_MS);
    await stage.redis.config("SET", "maxmemory", "0");
    if (stage.flow.refused === refusedBefore) stage.wrong("Redis was full and refused nothing");
    return { says: `Redis was full for ${FULL_MS / 1_000} s`, sinceMs: performance.now() };
  },
};

export const redisCut: Fault = {
  name: "redis-cut",
  does: "lets all packets between workers and Redis vanish for three seconds, while publishers go on",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: CALM_MS,
  strike: async (stage, { signal }) => {
    stage.workersRedis.drop();
    await pause(CUT_MS, undefined, { signal });
    stage.workersRedis.heal();
    return { says: `packets of Redis vanished for ${CUT_MS / 1_000} s`, sinceMs: performance.now() };
  },
};
