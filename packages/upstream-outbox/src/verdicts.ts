/** What the forwarder asks of a publisher; that of `@junban/event-queues` fits. */
export interface EventSink {
  /** One result per event, in the given order, keeping that order per lcid. Rejects for nobody's event. */
  publishAll(events: readonly unknown[]): Promise<readonly SinkResult[]>;
}

export type SinkResult =
  | { readonly kind: "published" }
  | { readonly kind: "refused"; readonly error: Error & { readonly code: string } };

/** A row that waits to be forwarded. */
export interface WaitingRow {
  readonly id: string;
  readonly lcid: string;
  readonly event: unknown;
  /** How long it has waited, by the database's clock, when it was read. */
  readonly ageSeconds: number;
}

/** A row whose event can never be published. */
export interface ParkedRow {
  readonly id: string;
  readonly lcid: string;
  readonly code: string;
  readonly reason: string;
}

export interface Verdicts {
  readonly forwarded: readonly WaitingRow[];
  readonly parked: readonly ParkedRow[];
  /** Orders whose lanes took not all of their events; the rest comes later. */
  readonly unwilling: ReadonlySet<string>;
  /** Set when it was no single lane that refused, or when nobody's lane took anything because of Redis. */
  readonly outage: (Error & { readonly code: string }) | undefined;
}

const NEVER: ReadonlySet<string> = new Set(["INVALID_EVENT", "EVENT_TOO_LARGE"]);
const FULL = "LANE_FULL";
/** Of one lane as a rule, such as a key of another type; of all of them where Redis lets this publisher do nothing. */
const REFUSED = "REDIS_REFUSED";

/** Tells apart what is done, what can never be, what one lane has no room for, and what nobody takes at present. */
export function verdictsOf(rows: readonly WaitingRow[], results: readonly SinkResult[]): Verdicts {
  const forwarded: WaitingRow[] = [];
  const parked: ParkedRow[] = [];
  const unwilling = new Set<string>();
  let outage: Verdicts["outage"];
  let refusal: Verdicts["outage"];
  for (const [index, row] of rows.entries()) {
    const result = results[index];
    // Without an answer nothing is known, and the row is asked about again.
    if (result === undefined) continue;
    if (result.kind === "published") forwarded.push(row);
    else if (NEVER.has(result.error.code)) parked.push(parkedRow(row, result.error));
    else if (result.error.code === FULL) unwilling.add(row.lcid);
    else if (result.error.code === REFUSED) {
      unwilling.add(row.lcid);
      refusal ??= result.error;
    } else outage ??= result.error;
  }
  // Or nobody would hear of a Redis that refuses each lane in turn.
  if (forwarded.length === 0) outage ??= refusal;
  return { forwarded, parked, unwilling, outage };
}

function parkedRow(
  { id, lcid }: WaitingRow,
  { code, message }: Error & { readonly code: string },
): ParkedRow {
  return { id, lcid, code, reason: message };
}
