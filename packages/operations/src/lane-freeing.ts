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
    "and wakes the next in line. Nothing leaves the line, and the count of turns lost in a row starts anew. " +
    "A holder that is alive may still commit what it has in hand, and learns of this soon after; the order's row and " +
    "the record of decided events see to it that nothing is decided twice or out of its order."
  );
}

/**
 * Drops the lock of `holder` and wakes the next in line; whoever has come since keeps the lane.
 * @throws {LaneHolderGoneError} when nothing was changed.
 */
export async function freeLane(
  lanes: Lanes,
  { lcid, holder }: { readonly lcid: string; readonly holder: string },
): Promise<void> {
  if (!(await lanes.free(lcid, { holder }))) throw new LaneHolderGoneError({ lcid, holder });
}
