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

/** So many times over what comes behind the placement; the numbers of their references make them different. */
const TURN: readonly ((turn: number) => { readonly type: string; readonly data: object })[] = [
  // Comes before its authorization, and is held until then.
  (turn) => ({
    type: "payment.captured",
    data: { captureId: `c-${turn}`, authorizationId: `a-${turn}`, amount: 4, currency: "JPY" },
  }),
  (turn) => ({
    type: "payment.authorized",
    data: { authorizationId: `a-${turn}`, amount: 10, currency: "JPY" },
  }),
  (turn) => ({ type: "inventory.reserved", data: { reservationId: `r-${turn}`, lineId: "L1", quantity: 2 } }),
  (turn) => ({
    type: "cancel.requested",
    data: {
      cancelId: `x-${turn}`,
      scope: "lines",
      items: [{ lineId: "L1", quantity: 1 }],
      reason: "changed",
    },
  }),
  (turn) => ({ type: "cancel.confirmed", data: { cancelId: `x-${turn}` } }),
];

/**
 * An order that is placed, and then again and again paid a little before that is authorized, reserved for and cancelled by a
 * piece. By the end of each turn every event has applied, and each has changed the version.
 */
function eventOf(lcid: string, number: number): Event {
  const lines = [{ lineId: "L1", sku: "S1", quantity: 9_999, unitAmount: 5 }];
  const content = TURN[(number - 1) % TURN.length]?.(Math.ceil(number / TURN.length)) ?? {
    type: "order.placed",
    data: { currency: "JPY", adjustment: 0, shipGate: "captured", lines },
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

/** Tells an order's story until it is over and the turn as well, at least one event; answers how many events that is from the beginning. */
export async function tellStory({ lcid, from = 0, isOver, tell }: Telling): Promise<number> {
  let number = from;
  do {
    await tell(eventOf(lcid, number));
    number += 1;
    await pause(PACE_MS);
  } while (!isOver() || (number - 1) % TURN.length !== 0);
  return number;
}

/** How long an event may take to be taken, whatever is struck meanwhile. */
const TAKEN_WITHIN_MS = 60_000;

/** Tries again until it succeeds, as whoever does not know whether it happened already. */
export async function again(attempt: () => Promise<void>): Promise<void> {
  await eventually(attempt, { withinMs: TAKEN_WITHIN_MS, everyMs: 100 });
}
