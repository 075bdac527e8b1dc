import { setTimeout as pause } from "node:timers/promises";
import { CALM_MS, type Fault, HOLDER_BOUND_MS, SERVICE_BOUND_MS } from "./fault.ts";
import { AT_MOMENT, momentEnv } from "./moments.ts";

const LONGEST_COUNTDOWN = 5;
const STORM_MS = 2_000;
const CUT_MS = 3_000;

export const publisherKilled: Fault = {
  name: "publisher-killed",
  does: "kills a publishing process when its events stand in their lanes and have no jobs yet (SIGKILL)",
  boundMs: HOLDER_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 2,
  calmMs: CALM_MS,
  strike: async (stage, { random, signal }) => {
    const countdown = random.whole(1, LONGEST_COUNTDOWN);
    const env = momentEnv({ moment: "junban.publish.standing", sends: "SIGKILL", countdown });
    const number = random.whole(0, stage.publishers.length - 1);
    await stage.publishers[number]?.doom({ preload: AT_MOMENT, env }, signal);
    return { says: `publisher ${number + 1} died between lane and job`, sinceMs: performance.now() };
  },
};

export const publisherCut: Fault = {
  name: "publisher-cut",
  does: "lets every answer of Redis to publishers vanish for three seconds: they cannot know what was taken, and send it again",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: CALM_MS,
  strike: async (stage, { signal }) => {
    const refusedBefore = stage.flow.refused;
    stage.publishersRedis.drop("toClient");
    await pause(CUT_MS, undefined, { signal });
    stage.publishersRedis.heal();
    if (stage.flow.refused === refusedBefore) stage.wrong("every answer reached the publishers all the same");
    return { says: `publishers heard nothing for ${CUT_MS / 1_000} s`, sinceMs: performance.now() };
  },
};

export const duplicateStorm: Fault = {
  name: "duplicate-storm",
  does: "sends each event one to five times, from several publishers",
  boundMs: HOLDER_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: 0,
  strike: async (stage, { signal }) => {
    const { flow } = stage;
    const before = flow.published;
    flow.storm = true;
    await pause(STORM_MS, undefined, { signal });
    flow.storm = false;
    return { says: `${flow.published - before} sendings in the storm`, sinceMs: performance.now() };
  },
};
