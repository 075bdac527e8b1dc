import { hotStory } from "@junban/order-stories";
import { requestOf, type EventEnvelope } from "@junban/orders";

/** Events of one key in publish order, one of which goes wrong. */
export interface KeyStory {
  readonly lcid: string;
  readonly events: readonly EventEnvelope[];
  /** Early enough that most of the others stand behind it. */
  readonly unlucky: EventEnvelope;
  /** By which Junban's line knows it. */
  readonly unluckyKey: string;
}

const UNLUCKY_SHARE = 0.25;

export function tellKeyStory({ events, seed }: { events: number; seed: number }): KeyStory {
  const lcid = `MISHAP-${seed}`;
  const digits = String(events).length;
  // In a story an id is unique within its source only, and the one that goes wrong is named by its id.
  const told = hotStory({ lcid, events, seed }).map((event, index) => ({
    ...event,
    id: `${lcid}-${String(index).padStart(digits, "0")}`,
  }));
  const unlucky = told[Math.floor(told.length * UNLUCKY_SHARE)];
  if (unlucky === undefined) throw new TypeError("a story without events has none that goes wrong");
  return { lcid, events: told, unlucky, unluckyKey: requestOf(unlucky).key };
}
