import { keysOfLane, lockKey, locksHeld, standingLanes } from "../lanes.ts";
import type { Stage } from "../stage.ts";
import { CALM_MS, type Fault, HOLDER_BOUND_MS } from "./fault.ts";
import { withStandingLines } from "./standing-lines.ts";

const TRY_FOR_MS = 5_000;
const LANES_AT_ONCE = 3;

export const lockDeleted: Fault = {
  name: "lock-deleted",
  does: "deletes the locks of lanes while their holders work",
  boundMs: HOLDER_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 3,
  calmMs: CALM_MS,
  strike: async (stage) => {
    const deleted = await whileLinesStand(stage, async () => {
      const held = await locksHeld(stage);
      const some = held.slice(0, LANES_AT_ONCE);
      return some.length === 0 ? 0 : stage.redis.unlink(...some.map((lcid) => lockKey(stage, lcid)));
    });
    if (deleted === 0) stage.wrong("no lock was held for five seconds, so none could be deleted");
    return { says: `${deleted} locks vanished`, sinceMs: performance.now() };
  },
};

export const laneLost: Fault = {
  name: "lane-lost",
  does: "deletes every key of lanes in which requests stand",
  boundMs: HOLDER_BOUND_MS,
  keepsOrder: false,
  leastStrikes: 3,
  calmMs: CALM_MS,
  strike: async (stage) => {
    const deleted = await whileLinesStand(stage, async () => {
      const some = (await standingLanes(stage)).slice(0, LANES_AT_ONCE);
      if (some.length > 0) await stage.redis.unlink(...some.flatMap((lcid) => keysOfLane(stage, lcid)));
      return some.length;
    });
    if (deleted === 0) stage.wrong("no line stood for five seconds, so none could be lost");
    return { says: `${deleted} lanes lost everything`, sinceMs: performance.now() };
  },
};

/** Acts, again and again, until it has found something to hit. */
async function whileLinesStand(stage: Stage, act: () => Promise<number>): Promise<number> {
  return withStandingLines(stage, async () => {
    const untilMs = performance.now() + TRY_FOR_MS;
    for (;;) {
      const hit = await act();
      if (hit > 0 || performance.now() > untilMs) return hit;
    }
  });
}
