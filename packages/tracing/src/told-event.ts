import type { EventEnvelope } from "@junban/orders";

/** What an update says of the event that made it; null for updates that say nothing of the kind. */
export function toldEvent(payload: unknown): EventEnvelope | null {
  if (typeof payload !== "object" || payload === null || !("event" in payload)) return null;
  const { event } = payload;
  return typeof event === "object" && event !== null ? (event as EventEnvelope) : null;
}
