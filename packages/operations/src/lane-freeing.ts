import type { LaneReport, Lanes } from "@junban/handoff-lock";
import { lasting } from "./doctor/finding.ts";
import { LaneHolderGoneError } from "./errors.ts";

/** What freeing a held lane does, for whoever is about to: whole sentences. */
export function freeingSays({
  lcid,
  holder,
  leaseLeftMs,
}: Pick<LaneReport, "lcid" | "holder" | "leaseLeftMs">): string {
  return (
    `This drops the lock of ${holder} on the lane of ${lcid}, which would lapse in ${lasting(leaseLeftMs)} unless it is renewed, ` +
    "and wakes a job that waits for it, where there is one. Nothing leaves the line, and the count of turns lost in a row starts anew. " +
    "A holder that is alive may still commit what it has in hand, and learns of this soon after; the order's row and " +
    "the record of decided events see to it that nothing is decided twice or out of its order."
  );
}

/** How a lane stood when it was freed. */
export type FreedLane = Pick<LaneReport, "depth" | "seats">;

/** What comes after, in whole sentences and no more than is known. */
export function freedSays({ depth, seats }: FreedLane): string {
  if (depth === 0) return "The lock is dropped. Nothing stood in line.";
  return seats > 0
    ? "The lock is dropped, and a job that waited for it was woken."
    : "The lock is dropped. No job waited for it: the line is gone on with when a job of this order comes, or by the sweeper.";
}

/**
 * Drops the lock of `holder` and wakes a job that waits for it; whoever has come since keeps the lane.
 * @throws {LaneHolderGoneError} when nothing was changed.
 */
export async function freeLane(
  lanes: Lanes,
  { lcid, holder }: { readonly lcid: string; readonly holder: string },
): Promise<FreedLane> {
  const { depth, seats } = await lanes.inspect(lcid);
  if (!(await lanes.free(lcid, { holder }))) throw new LaneHolderGoneError({ lcid, holder });
  return { depth, seats };
}
