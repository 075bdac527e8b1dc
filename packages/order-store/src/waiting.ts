import { interpret, traceContextOf, type EventEnvelope } from "@junban/orders";
import type { WaitingEvent, WaitingPlace } from "./order-work.ts";

/** A row of `order_events` as the statements about waiting events read it. */
export interface WaitingRow {
  readonly lcid: string;
  readonly source: string;
  readonly event_id: string;
  readonly type: string;
  readonly event: unknown;
  readonly reason: string | null;
  readonly arrival: number;
  readonly outcome?: string;
}

/** The row's event if this build can decide it. */
export function waitingEvent(row: WaitingRow): WaitingEvent | null {
  if (row.event === null) return null;
  const reading = interpret(row.event as EventEnvelope);
  if (reading.kind !== "known") return null;
  return { ...placeOf(row), event: reading.event };
}

/** What identifies a row's event, whether this build can decide it or not. */
export function placeOf(row: WaitingRow): WaitingPlace {
  const { arrival, source, event_id: id, type, reason } = row;
  return {
    arrival,
    source,
    id,
    type,
    reason,
    trace: traceContextOf(row.event as EventEnvelope | null),
    outcome: (row.outcome ?? "deferred") as WaitingEvent["outcome"],
  };
}

/** What an order holds, by arrival. */
export interface HeldEvents {
  readonly known: readonly WaitingEvent[];
  /** Held by a newer build, which knows what they wait for; this one cannot tell whether it has come. */
  readonly unread: readonly WaitingPlace[];
}

export const NOTHING_HELD: HeldEvents = { known: [], unread: [] };

/** The held events of each order that has any. */
export function heldEvents(rows: readonly WaitingRow[]): ReadonlyMap<string, HeldEvents> {
  const byLcid = new Map<string, { known: WaitingEvent[]; unread: WaitingPlace[] }>();
  for (const row of rows) {
    const held = byLcid.get(row.lcid) ?? { known: [], unread: [] };
    byLcid.set(row.lcid, held);
    const waiting = waitingEvent(row);
    if (waiting === null) held.unread.push(placeOf(row));
    else held.known.push(waiting);
  }
  return byLcid;
}
