import type { Redis } from "ioredis";
import type { LeaseLostError } from "./errors.ts";

/** What a caller wants to put in line. */
export interface LaneRequest {
  /** Names the request within its lane; 1 to 128 visible characters of ASCII. The same key never stands twice. */
  readonly key: string;
  /** Opaque text, handed back with the turn. */
  readonly body: string;
}

/** A request as it stands in the line. */
export interface StandingRequest {
  readonly key: string;
  readonly body: string;
  /** When it joined the line, by the clock of Redis, in milliseconds since 1970. */
  readonly publishedAtMs: number;
}

/** What became of one request. `value` is opaque here. */
export interface Settlement {
  readonly key: string;
  readonly value: string;
}

export type QueueResult =
  | { readonly kind: "queued"; readonly depth: number }
  | { readonly kind: "full"; readonly depth: number; readonly cap: number };

export interface QueueEntry {
  readonly lcid: string;
  readonly requests: readonly LaneRequest[];
}

export type Entry =
  | { readonly kind: "turn"; readonly turn: Turn }
  | { readonly kind: "settled"; readonly value: string }
  | {
      readonly kind: "waiting";
      /** Requests ahead of this one, counted up to 256; 0 when the call brought no request. */
      readonly position: number;
    };

export type Standing =
  | { readonly kind: "turn"; readonly turn: Turn }
  | { readonly kind: "settled"; readonly value: string }
  /** The lane stood still too long; the seat was given up, the request still stands. */
  | { readonly kind: "steppedBack" }
  /** The caller's signal fired; the seat was given up, the request still stands. */
  | { readonly kind: "cancelled" };

export type Handoff =
  | { readonly kind: "next"; readonly requests: readonly StandingRequest[] }
  /** The line is empty and the lock is gone. */
  | { readonly kind: "released" }
  /** Another waiter was woken and the lock is gone. */
  | { readonly kind: "yielded" }
  /** The lock holds another token or none: nothing was changed. Also the answer once the turn is over. */
  | { readonly kind: "lost" };

export interface HandOffOptions {
  /** Give the lane to another live seat if there is one. Default false. */
  readonly yieldTurn?: boolean;
  /** Most requests to receive next, 1 to 1,000. Default: the lanes' `batch`. */
  readonly batch?: number;
  /** Settled keys whose outcome the caller delivers itself: nobody is told, nothing is left behind for them. */
  readonly own?: readonly string[];
  /**
   * Keys of earlier handoffs whose outcome was left behind and that the caller has delivered itself since: what was left goes. At
   * most 1,000.
   */
  readonly delivered?: readonly string[];
}

/** The right to serve one lane, for as long as its lease lasts. */
export interface Turn {
  readonly lcid: string;
  /** Never used twice. */
  readonly token: string;
  /** Turns taken in a row without a handoff or a leave, this one included: 1 when nobody vanished. */
  readonly tries: number;
  /** The first requests of the line, oldest first. They are still standing. Empty when the line was. */
  readonly requests: readonly StandingRequest[];
  /** Fires with a {@link LeaseLostError} when the lease is lost, its local deadline has passed, or the lanes close. */
  readonly signal: AbortSignal;
  /** When the turn was asked for, on the clock of `performance.now()`. */
  readonly startedAtMs: number;
  /** Until when the lock is surely ours, on the clock of `performance.now()`: last successful renewal's send time + lease. */
  deadlineMs(): number;
  /**
   * Removes the settled requests wherever they stand, tells whoever waits for them, and answers with what comes next.
   * Unsettled requests keep their place and are handed out again. One call at a time; asking again after a
   * {@link LaneUnavailableError} is safe, and answers `lost` when the unanswered call had given the lane up.
   */
  handOff(settlements: readonly Settlement[], options?: HandOffOptions): Promise<Handoff>;
  /**
   * Gives the lane up without settling and wakes the next waiter. Harmless when the turn is over already; never rejects
   * because of Redis (an unanswered leave ends by itself when the lease lapses).
   */
  leave(): Promise<void>;
}

export interface LaneReport {
  readonly lcid: string;
  readonly depth: number;
  /** The holder's token. */
  readonly holder: string | null;
  /** 0 when nobody holds the lane. */
  readonly leaseLeftMs: number;
  readonly seats: number;
  readonly outcomes: number;
  readonly tries: number;
  readonly headKey: string | null;
  /** False when line and bodies do not match; the next step on the lane mends it. */
  readonly consistent: boolean;
}

/** A request as an operator sees it in its line. */
export interface LinePlace {
  readonly key: string;
  /** Null when it was lost; the next step on the lane drops such an entry. */
  readonly body: string | null;
  /** By the clock of Redis, in milliseconds since 1970; null with the body. */
  readonly publishedAtMs: number | null;
  /** Whether some process has noted a seat for it, so that its job waits at this moment. */
  readonly seated: boolean;
}

/** An outcome whose job has not come for it. */
export interface LeftOutcome {
  readonly key: string;
  readonly value: string;
  /** By the clock of Redis, in milliseconds since 1970. */
  readonly leftAtMs: number;
}

/** A lane at one moment, with a page of what is in it. */
export interface LaneView extends LaneReport {
  /** Oldest first. */
  readonly line: readonly LinePlace[];
  /** In no order. */
  readonly leftOutcomes: readonly LeftOutcome[];
}

/** Called synchronously, for logs and counters; must not throw. */
export interface LaneObservers {
  readonly onLeaseLost?: (lcid: string, why: LeaseLostError["why"]) => void;
  readonly onStepBack?: (lcid: string) => void;
  /** A script stumbled over something in the lane's keys that no script puts there; it was dropped. */
  readonly onHealed?: (lcid: string) => void;
}

export interface LanesOptions extends LaneObservers {
  /** Shared connection; this package never closes it. Must not use `keyPrefix`. */
  readonly redis: Redis;
  /** Connection for hints. Default: a duplicate of `redis`, closed with the lanes. */
  readonly subscriber?: Redis;
  /** First part of every key; characters as in a lane name. Default `junban`. */
  readonly prefix?: string;
  /** Lifetime of a turn that is not renewed, milliseconds, 100 to 300,000. Default 10,000. */
  readonly leaseMs?: number;
  /** Most requests handed out at once, 1 to 1,000. Default 256. */
  readonly batch?: number;
  /** Requests that may stand in one lane before `queue` refuses. Default 10,000. */
  readonly cap?: number;
  /** Lifetime of an untouched lane, milliseconds. Default 604,800,000 (7 days). */
  readonly laneTtlMs?: number;
  /** Step back after so long without progress of the lane, milliseconds. Default 1,000. */
  readonly waitMs?: number;
  /** Ask Redis again after so long without a word from the lane, milliseconds. Default 250. */
  readonly pollMs?: number;
  /** Step back after so long without a word from the lane, milliseconds. Default half the lease. */
  readonly wordMs?: number;
  /** Longest wait for one answer of Redis, milliseconds. Default a third of the lease. */
  readonly commandTimeoutMs?: number;
}

export interface Lanes {
  /**
   * Puts requests in line, in the given order; those that stand already keep their place. All or none: `full` when the
   * new ones would exceed the cap. Never have two calls for one lane under way.
   * @throws {OutOfMemoryError | LaneUnavailableError | LaneNameError}
   */
  queue(lcid: string, requests: readonly LaneRequest[]): Promise<QueueResult>;
  /** `queue` for many lanes, in one write; at most one entry a lane. One answer per entry, errors as values. */
  queueMany(entries: readonly QueueEntry[]): Promise<readonly (QueueResult | Error)[]>;
  /** Enters and waits, until it has the turn, the outcome, or a reason to come back later. */
  stand(lcid: string, request: LaneRequest, options: { readonly signal: AbortSignal }): Promise<Standing>;
  /**
   * One attempt. With a request: joins the line if it is not standing; `waiting` when somebody else holds the lane, and
   * then no seat is noted, so the outcome is kept for the next attempt and no wake is spent on a caller that does not
   * listen. Without one (maintenance): takes a free lane, even an empty one; `waiting` means somebody holds it.
   */
  enter(lcid: string, request?: LaneRequest): Promise<Entry>;
  /** Drops a request for good and tells its waiter; false when it was not standing. */
  withdraw(lcid: string, settlement: Settlement): Promise<boolean>;
  inspect(lcid: string): Promise<LaneReport>;
  /**
   * For operators: the report, `limit` requests of the line behind the first `skip`, and at most as many of the outcomes nobody
   * came for. `limit` is 1 to 256, as each request may bring tens of kilobytes; `skip` is 0 by default.
   */
  show(lcid: string, page: { readonly skip?: number; readonly limit: number }): Promise<LaneView>;
  /**
   * For operators: drops the lock and wakes a waiter; false when there was none. With `holder`, only while that token holds
   * the lane: whoever has come since keeps it. A holder that is still at work learns of it at its next renewal or handoff.
   */
  free(lcid: string, options?: { readonly holder: string }): Promise<boolean>;
  /**
   * Names of lanes that have any key, a page at a time, each name once. Remembers the names it gave out until it ends: less
   * than 200 bytes for a lane.
   */
  scan(): AsyncIterable<readonly string[]>;
  /** Deletes outcomes nobody came for; answers how many. */
  sweepOutcomes(lcid: string, olderThanMs: number): Promise<number>;
  /** Ends every wait as `cancelled`, ends and leaves every turn still held, bounded by `commandTimeoutMs`. Call it as often as you like. */
  close(): Promise<void>;
}
