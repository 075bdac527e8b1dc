import type { RedisAddress } from "@junban/event-queues";

/** Versions that this name has not seen and now will not see: every one from `expected` up to, not including, `got`. */
export interface Gap {
  readonly expected: number;
  readonly got: number;
}

/** What was committed about one order: its version and whatever the relay sent with it. */
export interface OrderUpdate {
  readonly lcid: string;
  /** Counts the order's applied events, from 1, without gaps. */
  readonly version: number;
  /** Null in the ordinary case: this version follows the last one this name has handled. */
  readonly gap: Gap | null;
  /** The notice as it came, `lcid` and `version` included. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What the guard needs of a connection; a client of a `pg.Pool` fits. */
export interface DatabaseClient {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  release(destroy?: boolean): void;
}

/** The subscriber's own Postgres; a `pg.Pool` fits. */
export interface Database {
  connect(): Promise<DatabaseClient>;
}

/** The transaction in which the update's version advances. Committing it is not the handler's business. */
export type Transaction = Pick<DatabaseClient, "query">;

export interface HandlerContext {
  /** Fires when the consumer closes; without a database also when the lease on the order is lost, and others may be at it. */
  readonly signal: AbortSignal;
}

export interface TransactionContext extends HandlerContext {
  /** Effects written here happen exactly once: they commit together with the version, or not at all. */
  readonly transaction: Transaction;
}

/** Why a notice was passed over: this name has handled its version or a later one. */
export interface SkippedUpdate {
  readonly lcid: string;
  readonly version: number;
  /** The latest version this name has handled. */
  readonly last: number;
}

export interface ConsumeOrderUpdatesOptions {
  /** Where Junban's Redis is. A client given here only lends its address. */
  readonly redis: RedisAddress;
  /** First part of every key, as the fleet's `JUNBAN_PREFIX`. Default `junban`. */
  readonly prefix?: string;
  /**
   * Who consumes: 1 to 48 letters, digits, `-` and `_`. Processes of one name share the updates; every name gets all that
   * come after its first start.
   */
  readonly name: string;
  /** Handlers at once in this process, 1 to 1,000. Default 8. With a database, that many connections are used. */
  readonly concurrency?: number;
  /**
   * How long a version waits for those before it that have not arrived, milliseconds, 0 or more, or `Infinity`. Then it goes with
   * a gap, and those before it are skipped when they come. Default three times `leaseMs`; when it is shorter than that, the crash
   * of a process can make a gap.
   */
  readonly gapWaitMs?: number;
  /**
   * First pause after a failed handler, milliseconds, 1 to 60,000. It doubles with each attempt, up to a minute or a third of
   * `gapWaitMs`, whichever is shorter. Default 1,000.
   */
  readonly retryMs?: number;
  /**
   * After so long without sign of life of a process its work goes to another, milliseconds, 1,000 to 300,000. With a database also
   * the longest statement, the longest wait for a connection, and the longest pause between two statements of a handler.
   * Default 10,000.
   */
  readonly leaseMs?: number;
  /** Told after an update with a gap was handled. None of these three may throw. */
  onGap?(update: OrderUpdate): void;
  /** Told of each notice that came again, or too late. */
  onSkipped?(skipped: SkippedUpdate): void;
  /** Told of each attempt that failed by its handler, of each unusable job, and once per outage of a server. */
  onError?(error: Error): void;
}

/** Since the start of this process, for metrics. */
export interface UpdateCounts {
  readonly handled: number;
  /** Of those handled, how many had a gap. */
  readonly gaps: number;
  readonly skipped: number;
  /** Attempts that failed, by their handler or in an outage. */
  readonly failed: number;
  /** Jobs that hold no update and were given up. */
  readonly unusable: number;
}

export interface OrderUpdatesConsumer {
  counts(): UpdateCounts;
  /**
   * Stops fetching, fires the handlers' signal, and waits for handlers under way, at most `deadlineMs` (default 10,000).
   * What did not end comes again elsewhere. Call it as often as you like.
   */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
}
