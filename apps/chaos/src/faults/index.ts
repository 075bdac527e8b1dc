import { crashLoop } from "./crash-loop.ts";
import { gatewayKilled, relayKilled, sinkAway } from "./edges.ts";
import type { Fault } from "./fault.ts";
import { CALM_MS, SERVICE_BOUND_MS } from "./fault.ts";
import { duplicateForwarders } from "./forwarders.ts";
import { laneLost, lockDeleted } from "./lanes.ts";
import { backendTerminate, commitCut, postgresCut, postgresRestart, slowDatabase } from "./postgres.ts";
import { duplicateStorm, publisherCut, publisherKilled } from "./publishers.ts";
import { redisCut, redisOom, redisRestart, redisScriptFlush } from "./redis.ts";
import { freezeHolder, killHolder, killWorker, rollingRestart } from "./workers.ts";

export const FAULTS: readonly Fault[] = [
  killWorker,
  killHolder,
  freezeHolder,
  rollingRestart,
  crashLoop,
  lockDeleted,
  laneLost,
  redisRestart,
  redisCut,
  redisScriptFlush,
  redisOom,
  postgresRestart,
  postgresCut,
  commitCut,
  backendTerminate,
  slowDatabase,
  publisherKilled,
  publisherCut,
  duplicateStorm,
  relayKilled,
  sinkAway,
  gatewayKilled,
  duplicateForwarders,
];

/** Those that are over within a few seconds: what a long-running fleet meets now and then. */
export const smallFaults: readonly Fault[] = [
  killWorker,
  killHolder,
  rollingRestart,
  lockDeleted,
  redisScriptFlush,
  postgresRestart,
  commitCut,
  backendTerminate,
  slowDatabase,
  publisherKilled,
];

/** Those that leave the order promised, do not take half a minute each, and need nothing but a fleet. */
const MIXABLE = FAULTS.filter(
  ({ keepsOrder, name, edges = [] }) => keepsOrder && name !== "crash-loop" && edges.length === 0,
);

export const mixed: Fault = {
  name: "mixed",
  does: "strikes with one fault after another, drawn from the seed",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 3,
  calmMs: CALM_MS,
  strike: async (stage, chance) => {
    const fault = chance.random.pick(MIXABLE);
    const struck = chance.random.whole(0, 5);
    const strike = await fault.strike(stage, { ...chance, struck });
    return { ...strike, boundMs: fault.boundMs, says: `${fault.name}: ${strike.says}` };
  },
};
