import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../support/eventually.ts";

export type Event = {
  readonly specversion: "1.0";
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly lcid: string;
  readonly data: object;
};

/** Slow enough for a story to last as long as the strikes do, fast enough for every strike to meet events on their way. */
const PACE_MS = 200;

/** An order that is placed and then authorized bit by bit, so that every event applies and each changes the version. */
function eventOf(lcid: string, number: number): Event {
  const lines = [{ lineId: "L1", sku: "S1", quantity: 2, unitAmount: 500 }];
  const content =
    number === 0
      ? { type: "order.placed", data: { currency: "JPY", adjustment: 0, shipGate: "captured", lines } }
      : {
          type: "payment.authorized",
          data: { authorizationId: `a-${number}`, amount: 10, currency: "JPY" },
        };
  return { specversion: "1.0", id: `${lcid}-${number}`, source: "/lab", lcid, ...content };
}

/** The first events of an order. */
export function storyOf(lcid: string, length: number): Event[] {
  return Array.from({ length }, (_, number) => eventOf(lcid, number));
}

export interface Telling {
  readonly lcid: string;
  /** The number of the first event that is told. */
  readonly from?: number;
  readonly isOver: () => boolean;
  /** Resolves once the event was taken: only then comes the next. */
  readonly tell: (event: Event) => Promise<void>;
}

/** Tells an order's story until it is over, at least one event; answers how many events that is from the beginning. */
export async function tellStory({ lcid, from = 0, isOver, tell }: Telling): Promise<number> {
  let number = from;
  do {
    await tell(eventOf(lcid, number));
    number += 1;
    await pause(PACE_MS);
  } while (!isOver());
  return number;
}

/** How long an event may take to be taken, whatever is struck meanwhile. */
const TAKEN_WITHIN_MS = 60_000;

/** Tries again until it succeeds, as whoever does not know whether it happened already. */
export async function again(attempt: () => Promise<void>): Promise<void> {
  await eventually(attempt, { withinMs: TAKEN_WITHIN_MS, everyMs: 100 });
}
