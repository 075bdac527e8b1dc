import { interpret, type EventEnvelope } from "@junban/orders";
import type { WaitingEvent } from "./order-work.ts";

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
export function placeOf(row: WaitingRow): Omit<WaitingEvent, "event"> {
  const { arrival, source, event_id: id, type, reason } = row;
  return {
    arrival,
    source,
    id,
    type,
    reason,
    outcome: (row.outcome ?? "deferred") as WaitingEvent["outcome"],
  };
}

export function waitingEvents(rows: readonly WaitingRow[]): ReadonlyMap<string, readonly WaitingEvent[]> {
  const byLcid = new Map<string, WaitingEvent[]>();
  for (const row of rows) {
    const waiting = waitingEvent(row);
    if (waiting === null) continue;
    const others = byLcid.get(row.lcid);
    if (others === undefined) byLcid.set(row.lcid, [waiting]);
    else others.push(waiting);
  }
  return byLcid;
}
