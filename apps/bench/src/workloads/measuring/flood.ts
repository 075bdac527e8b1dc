import { hotStory } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import type { FairnessRow } from "../../results.ts";
import type { Decision } from "../../rounds/live.ts";

export type FairnessArm = FairnessRow["arm"];

export const FLOOD_LCID = "FLOOD-1";

/** Events of one order; more of them where they turn out to be too few. */
export class Flood {
  readonly #seed: number;
  #events: readonly EventEnvelope[];

  constructor({ events, seed }: { events: number; seed: number }) {
    this.#seed = seed;
    this.#events = hotStory({ lcid: FLOOD_LCID, events, seed });
  }

  get events(): readonly EventEnvelope[] {
    return this.#events;
  }

  double(): void {
    this.#events = hotStory({ lcid: FLOOD_LCID, events: this.#events.length * 2, seed: this.#seed });
  }
}

/** The first event of so many orders: its placement. */
export function singlesOf({ others, seed }: { others: number; seed: number }): readonly EventEnvelope[] {
  return Array.from({ length: others }, (_, index) =>
    hotStory({ lcid: `SINGLE-${index + 1}`, events: 1, seed }),
  ).flat();
}

export function lastDecidedMs(decisions: readonly Pick<Decision, "decidedAtMs">[]): number {
  return decisions.reduce((last, { decidedAtMs }) => Math.max(last, decidedAtMs), 0);
}

/** Whether some of a published flood was still to be decided when the last of the singles was. */
export function outlasts(
  flood: { readonly published: number; readonly decisions: readonly Pick<Decision, "decidedAtMs">[] },
  singles: readonly Pick<Decision, "decidedAtMs">[],
): boolean {
  const lastMs = lastDecidedMs(singles);
  const before = flood.decisions.filter(({ decidedAtMs }) => decidedAtMs <= lastMs);
  return before.length < flood.published;
}
