import type { Derived, EventEnvelope, Line } from "@junban/orders";

/** One request of a lane, as it stood in its line. */
export interface StandingEvent {
  /** The request key: it names the event and its body at once. */
  readonly key: string;
  /** JSON text of the event's envelope. */
  readonly body: string;
  /** Redis time at which it was queued, in milliseconds. */
  readonly publishedAtMs: number;
}

/** The first requests of one lane, in the order in which they were published. */
export interface LaneBatch {
  readonly lcid: string;
  readonly requests: readonly StandingEvent[];
  /** Settles the first request `failed CRASH_LOOP` without deciding it: deciding it killed one holder after another. */
  readonly giveUpHead?: boolean;
  /** `performance.now()` at which the lane's lease ends. Checked just before COMMIT; saves work, protects nothing. */
  readonly deadlineMs?: number;
}

export type Outcome = "applied" | "duplicate" | "rejected" | "deferred" | "failed" | "conflict";

/** The answer to one request. It is final for the lane even where the event is held: a held event is decided from its row. */
export interface Settled {
  readonly key: string;
  readonly source: string;
  readonly id: string;
  readonly type: string;
  readonly outcome: Outcome;
  readonly reason: string | null;
  /** The order's version that this event made, when applied. */
  readonly version: number | null;
  /** True when an earlier decision on record answered, so that this delivery changed nothing. */
  readonly repeat: boolean;
}

/**
 * Why not every request of a lane was settled. `passing`: try again later; `down`: the database does not answer at all;
 * `deadline`: the lease ran out first; `unknown`: an error nobody foresaw, for people to look at.
 */
export interface LaneTrouble {
  readonly kind: "passing" | "down" | "deadline" | "unknown";
  readonly error: Error;
}

export interface LaneResult {
  readonly lcid: string;
  /** A prefix of the batch's requests, in their order. */
  readonly settled: readonly Settled[];
  /** Set when `settled` is shorter than the batch. */
  readonly trouble: LaneTrouble | null;
  /** Held events that this batch's events brought to a decision. */
  readonly released: number;
}

/** Facts about one committed transaction, for metrics. */
export interface CommitFacts {
  readonly lanes: number;
  readonly events: number;
  readonly roundTrips: number;
}

export interface HeldReport {
  readonly lcid: string;
  readonly source: string;
  readonly id: string;
  readonly type: string;
  readonly reason: string;
  readonly arrival: number;
  readonly publishedAt: Date;
  /** Null for events that wait without a deadline. */
  readonly until: Date | null;
}

export interface EventReport {
  readonly seq: number;
  readonly lcid: string;
  readonly source: string;
  readonly id: string;
  readonly type: string;
  readonly outcome: Exclude<Outcome, "conflict">;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly version: number | null;
  readonly arrival: number;
  readonly publishedAt: Date;
  readonly decidedAt: Date;
  readonly deferredUntil: Date | null;
  readonly alert: boolean;
  readonly worker: string;
  /** Null where the event could not be kept; `raw` then holds an escaped excerpt. */
  readonly event: EventEnvelope | null;
  readonly raw: string | null;
}

export interface OrderReport extends Omit<Derived, "openMinor"> {
  readonly lcid: string;
  readonly version: number;
  readonly currency: string | null;
  readonly shipGate: string | null;
  readonly adjustmentMinor: number;
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
  readonly voidedMinor: number;
  readonly refundedMinor: number;
  readonly openCancels: number;
  readonly paymentFailures: number;
  readonly held: number;
  readonly halted: boolean;
  readonly arrivals: number;
  readonly placedAt: Date | null;
  readonly updatedAt: Date;
  readonly lines: readonly Line[];
  readonly heldEvents: readonly HeldReport[];
  readonly alerts: readonly EventReport[];
}

/** A dead letter: an event that failed, or was rejected, and why. */
export type DeadLetter = Omit<EventReport, "event" | "raw">;

/** Counts that are cheap at any size. */
export interface StoreGauges {
  /** Events that wait, for whatever reason. */
  readonly held: number;
  /** Of those, how many reach their deadline within two hours, or have passed it. */
  readonly heldDueSoon: number;
  /** Orders that stand behind a failed event. */
  readonly halted: number;
  readonly failed: number;
  readonly alerts: number;
  /** Of the alerts, captures of more than was authorized. */
  readonly overCaptures: number;
  /** Of the alerts, shipments of what had been cancelled, a whole order or a line's pieces. */
  readonly cancelledShipments: number;
  /** News not passed on yet, counted up to 100,000. */
  readonly outboxUnpublished: number;
  /** Age of the oldest of them, in milliseconds; 0 when there is none. */
  readonly outboxLagMs: number;
  /** News that were refused for a reason of their own, and wait for somebody to look at them. */
  readonly outboxParked: number;
}

/** News that the relay could not pass on. */
export interface ParkedNews {
  readonly id: number;
  readonly lcid: string;
  readonly version: number;
  readonly payload: unknown;
  readonly createdAt: Date;
  readonly parkedAt: Date;
  readonly reason: string;
}

/** What became of parked news that were to be given back to the relay. Each of the numbers asked for is in one of the lists. */
export interface PutBackResult {
  /** They stand in the outbox, in their old place, and are parked no more. */
  readonly back: readonly number[];
  /** The outbox holds the same version of the same order already. They stay parked until the relay has passed that one on. */
  readonly standing: readonly number[];
  /** Nothing of that number is parked. */
  readonly missing: readonly number[];
}

/** The gauges and full counts, which take longer the more there is. */
export interface StoreSummary extends StoreGauges {
  readonly ordersByStatus: Readonly<Record<string, number>>;
  readonly eventsByOutcome: Readonly<Record<string, number>>;
}

/** How much is decided lately, and how soon. Cheap however many events there are. */
export interface StorePulse {
  /** The newest number that an event was ever given, also by a transaction that was undone. Null for a role that may not read sequences. */
  readonly newest: number | null;
  /**
   * Committed first decisions with numbers above the one that was asked for, and those of them that stand applied by now; of at most the
   * newest 200,000 numbers. Null where nothing was asked for, where a large table lacks the index `order_events_by_seq`, and for a role
   * that may not read sequences.
   */
  readonly since: { readonly decided: number; readonly applied: number } | null;
  /**
   * Publish to first decision, of at most the 500 latest of the last minute; null when there was none, where a large table lacks the
   * index `order_events_by_seq`, and for a role that may not read sequences.
   */
  readonly latest: { readonly events: number; readonly p50Ms: number; readonly p99Ms: number } | null;
}

/** Events that wait for a build that knows their type or schema version. */
export interface UnknownEvents {
  readonly events: number;
  /** How long the first of them has waited, in milliseconds. */
  readonly oldestMs: number;
  /** The most frequent first. They are free text. */
  readonly types: readonly string[];
}

/** An order that was finished and deleted with its events. */
export interface PurgedOrder {
  readonly lcid: string;
  readonly purgedAt: Date;
}

/** An order that stands behind a failed event. */
export interface HaltedOrder {
  readonly lcid: string;
  readonly status: string;
  /** Events that wait, the blocked ones among them. */
  readonly held: number;
  readonly updatedAt: Date;
  /** The first of its failed events; null when a release was interrupted half-way. */
  readonly failure: Pick<EventReport, "source" | "id" | "type" | "reason" | "decidedAt"> | null;
}

/** Something that a person is about to do. */
export interface NewAction {
  readonly who: string;
  /** In one or two words, such as `replay`. */
  readonly act: string;
  /** What it is done to, as people write it. */
  readonly target: string;
  readonly reason?: string | null;
}

export interface ActionEnd {
  /** `refused`: nothing was changed. `failed`: it is not known whether it was carried out. */
  readonly result: "done" | "refused" | "failed";
  readonly detail?: string | null;
}

export interface ActionReport extends Required<NewAction> {
  readonly id: number;
  readonly begunAt: Date;
  /** Null while it is under way, and for ever when whoever did it was interrupted. */
  readonly endedAt: Date | null;
  readonly result: ActionEnd["result"] | null;
  readonly detail: string | null;
}

/** What an audit found about one order; sound when `differences` is empty. */
export interface AuditFinding {
  readonly lcid: string;
  readonly differences: readonly AuditDifference[];
}

export interface AuditDifference {
  /** For example `orders.captured_minor`, `order_lines[A].shipped`, `order_events.arrival`. */
  readonly field: string;
  readonly stored: unknown;
  /** What folding the order's applied events gives. */
  readonly folded: unknown;
}

/** What an operator's call changed. */
export interface OperatorResult {
  readonly outcome: Exclude<Outcome, "conflict">;
  readonly reason: string | null;
  readonly version: number | null;
  /** Blocked events of the same order that were decided after it, in their order. */
  readonly released: number;
  /** True while the order still stands behind another failed event. */
  readonly halted: boolean;
  /** True when all that was done is that the alert of a rejected event is open no more. */
  readonly acknowledged: boolean;
}

export interface MaintenanceLocator {
  readonly limit: number;
  /** Resume behind this lcid; lcids come in ascending order. */
  readonly after?: string;
}
