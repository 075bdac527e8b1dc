import type { NewAction, ParkedNews } from "@junban/order-store";
import type { DeadAddress } from "../dead-letters.ts";

/** What the record calls each act, so that it is found again however it was done. */

type Act = Omit<NewAction, "who">;

export function replayAct(letter: DeadAddress): Act {
  return { act: "replay", target: letterName(letter) };
}

export function dropAct(letter: DeadAddress, { reason }: { readonly reason: string }): Act {
  return { act: "drop", target: letterName(letter), reason };
}

export function acknowledgeAct(letter: DeadAddress, { reason }: { readonly reason: string }): Act {
  return { act: "acknowledge", target: letterName(letter), reason };
}

/** @param ids in any number; null for all that are parked. */
export function giveBackAct(ids: readonly number[] | null): Act {
  if (ids === null) return { act: "give back", target: "all parked updates" };
  const [first, ...others] = ids;
  if (others.length === 0) return { act: "give back", target: `parked update ${first}` };
  const rest = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "";
  return { act: "give back", target: `parked updates ${ids.slice(0, NAMED).join(", ")}${rest}` };
}

export function dropParkedAct(
  { id, lcid, version }: Pick<ParkedNews, "id" | "lcid" | "version">,
  { reason }: { readonly reason: string },
): Act {
  return { act: "drop", target: `parked update ${id}, version ${version} of ${lcid}`, reason };
}

export function freeLaneAct({ lcid, holder }: { readonly lcid: string; readonly holder: string }): Act {
  return { act: "free lane", target: `${lcid}, held by ${holder}` };
}

export function forgetSubscriberAct({ name }: { readonly name: string }): Act {
  return { act: "forget subscriber", target: name };
}

/** @param olderThan as the person wrote it. */
export function purgeAct({ olderThan }: { readonly olderThan: string }): Act {
  return { act: "purge", target: `finished orders that did not change for ${olderThan}` };
}

/** Numbers that the record names one by one. */
const NAMED = 100;

function letterName(letter: DeadAddress): string {
  return letter.kind === "event" ? `${letter.source} ${letter.id}` : `job:${letter.family} ${letter.id}`;
}
