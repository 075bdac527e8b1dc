import { setTimeout as pause } from "node:timers/promises";
import type { Lanes } from "@junban/handoff-lock";
import { FoundWrong } from "./exit.ts";

/** How long an operator's command waits for the order's lane, in milliseconds; a lane is yielded every few seconds. */
const TURN_WITHIN_MS = 30_000;
const ASK_EVERY_MS = 50;

/**
 * Runs `work` while holding the order's lane, so that maintenance and the fleet do not wait for each other inside Postgres.
 * @throws {FoundWrong} when the lane does not come free in time; nothing was done then.
 */
export async function withLane<Result>(
  lanes: Lanes,
  lcid: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const untilMs = performance.now() + TURN_WITHIN_MS;
  for (;;) {
    const entry = await lanes.enter(lcid);
    if (entry.kind === "turn") {
      try {
        return await work();
      } finally {
        await entry.turn.leave();
      }
    }
    if (performance.now() > untilMs) {
      throw new FoundWrong(`the lane of ${lcid} was busy for ${TURN_WITHIN_MS / 1_000} s; try again`);
    }
    await pause(ASK_EVERY_MS);
  }
}
