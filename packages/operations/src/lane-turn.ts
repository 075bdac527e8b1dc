import { setTimeout as pause } from "node:timers/promises";
import type { Lanes } from "@junban/handoff-lock";
import { LaneBusyError } from "./errors.ts";

/** How long an operator waits for an order's lane, in milliseconds; workers yield a lane every few seconds. */
const TURN_WITHIN_MS = 30_000;
const ASK_EVERY_MS = 50;

/**
 * Runs `work` while holding the order's lane, so that maintenance and the fleet do not wait for each other inside Postgres.
 * @throws {LaneBusyError} when the lane does not come free in time; nothing was done then.
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
    if (performance.now() > untilMs) throw new LaneBusyError({ lcid, waitedMs: TURN_WITHIN_MS });
    await pause(ASK_EVERY_MS);
  }
}
