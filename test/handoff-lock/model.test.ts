import { afterAll, beforeAll, test } from "vitest";
import { assertExplored, randomSeed } from "../support/exploration.ts";
import type { LaneExploration } from "./lane-property.ts";
import { openLaneExploration } from "./lane-property.ts";

let lane: LaneExploration;
beforeAll(async () => {
  lane = await openLaneExploration();
});
afterAll(() => lane.close());

const seed = randomSeed();
test(`I1 to I5 hold whatever publishers, holders, waiters and accidents do (seed ${seed})`, async () => {
  await assertExplored(lane.exploration, { seed, schedules: 400, atLeast: 150 });
}, 300_000);
