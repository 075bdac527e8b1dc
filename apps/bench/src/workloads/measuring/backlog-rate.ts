import type { EventEnvelope } from "@junban/orders";
import { unlessAborted } from "@junban/trial";
import type { Live } from "../../rounds/live.ts";
import { workedOff } from "../../rounds/working-off.ts";
import { UndecidedError } from "./errors.ts";

export interface BacklogRate {
  readonly eventsPerSecond: number;
  /** Jobs that had not ended when the time was over; the rate is then that of the others. */
  readonly left: number;
}

interface Limits {
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

/** Publishes the events while the contender stands still, lets it go, and measures until nothing is left. */
export async function backlogRate(
  live: Live,
  events: readonly EventEnvelope[],
  limits: Limits,
): Promise<BacklogRate> {
  live.freeze();
  await unlessAborted(live.carrier.publish(events), limits.signal);
  const startedMs = live.letGo();
  const { left, atMs } = await workedOff(live, limits);
  return { eventsPerSecond: (events.length - left) / ((atMs - startedMs) / 1_000), left };
}

/** The same for a backlog that must be worked off for its rate to mean anything. Throws UndecidedError otherwise. */
export async function wholeBacklogRate(
  live: Live,
  events: readonly EventEnvelope[],
  { what, ...limits }: Limits & { what: string },
): Promise<number> {
  const { eventsPerSecond, left } = await backlogRate(live, events, limits);
  if (left > 0) throw new UndecidedError({ what, left, of: events.length });
  return eventsPerSecond;
}
