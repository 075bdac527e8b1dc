import { DatabaseError } from "pg";

/** The base of every error this package throws on its own account. */
export abstract class OrderStoreError extends Error {
  abstract readonly code: string;
}

/** Thrown when the connection broke or did not answer in time; whether a COMMIT under way counted is then unknown. */
export class ConnectionLostError extends OrderStoreError {
  readonly code = "CONNECTION_LOST";
  constructor(options: { cause: unknown }) {
    const cause = options.cause instanceof Error ? options.cause.message : String(options.cause);
    super(`the connection to Postgres was lost: ${cause}`, options);
    this.name = "ConnectionLostError";
  }
}

/** Thrown when the connection broke, or gave no answer in time, after a COMMIT was sent: whether it counted is not known. */
export class CommitUnknownError extends ConnectionLostError {
  constructor(options: { cause: unknown }) {
    super(options);
    this.name = "CommitUnknownError";
  }
}

/**
 * Thrown by `replay` and `drop` once the event itself was decided and committed, when what it had blocked could not all be decided.
 * Nothing is lost: the order stays halted, and the sweeper goes on with it.
 */
export class ReleaseInterruptedError extends OrderStoreError {
  readonly code = "RELEASE_INTERRUPTED";
  readonly lcid: string;
  constructor({ lcid }: { lcid: string }, options: { cause: unknown }) {
    super(`the event was decided; what it blocked in order ${lcid} was not, or not all of it`, options);
    this.name = "ReleaseInterruptedError";
    this.lcid = lcid;
  }
}

/** Thrown when all connections of the pool were in use for as long as a connection may be waited for. */
export class PoolBusyError extends OrderStoreError {
  readonly code = "POOL_BUSY";
  readonly size: number;
  constructor({ size }: { size: number }, options: { cause: unknown }) {
    super(`all ${size} connections are in use; fewer calls at once or a larger pool would help`, options);
    this.name = "PoolBusyError";
    this.size = size;
  }
}

/** Thrown when a trip was not answered within its bound; the connection is destroyed, never pooled again. */
export class TripTimeoutError extends OrderStoreError {
  readonly code = "TRIP_TIMEOUT";
  readonly timeoutMs: number;
  constructor({ timeoutMs }: { timeoutMs: number }) {
    super(`Postgres did not answer within ${timeoutMs} ms`);
    this.name = "TripTimeoutError";
    this.timeoutMs = timeoutMs;
  }
}

/** Thrown when the outbox is asked by a process that no longer leads. */
export class LeadLostError extends OrderStoreError {
  readonly code = "LEAD_LOST";
  constructor() {
    super("this process no longer leads the outbox; ask for the lead again");
    this.name = "LeadLostError";
  }
}

/** Thrown when COMMIT was answered with ROLLBACK, or wrote fewer or more rows than decided. Nothing was kept. */
export class NotCommittedError extends OrderStoreError {
  readonly code = "NOT_COMMITTED";
  constructor(what: string) {
    super(`the transaction was not committed: ${what}`);
    this.name = "NotCommittedError";
  }
}

/** Thrown when a purge committed while this transaction waited for it; the transaction must start again. */
export class PurgedMeanwhileError extends OrderStoreError {
  readonly code = "PURGED_MEANWHILE";
  readonly lcid: string;
  constructor({ lcid }: { lcid: string }) {
    super(`order ${lcid} was purged while its events were being applied; start again`);
    this.name = "PurgedMeanwhileError";
    this.lcid = lcid;
  }
}

/** Reported when the lease of a lane had run out before its transaction could commit. Nothing was kept. */
export class DeadlinePassedError extends OrderStoreError {
  readonly code = "DEADLINE_PASSED";
  readonly lcid: string;
  constructor({ lcid }: { lcid: string }) {
    super(`the lease of ${lcid} ran out before its transaction could commit`);
    this.name = "DeadlinePassedError";
    this.lcid = lcid;
  }
}

/** Reported when another transaction held the order's row for longer than `lock_timeout`. */
export class OrderBusyError extends OrderStoreError {
  readonly code = "ORDER_BUSY";
  readonly lcid: string;
  constructor({ lcid }: { lcid: string }) {
    super(`order ${lcid} is being changed by another transaction; try again`);
    this.name = "OrderBusyError";
    this.lcid = lcid;
  }
}

/** Thrown by operators' calls when no such event was ever decided. */
export class EventNotFoundError extends OrderStoreError {
  readonly code = "EVENT_NOT_FOUND";
  readonly source: string;
  readonly id: string;
  constructor({ source, id }: { source: string; id: string }) {
    super(`no event ${id} of ${source} is on record`);
    this.name = "EventNotFoundError";
    this.source = source;
    this.id = id;
  }
}

/** Thrown by operators' calls when the event's outcome does not allow what was asked. */
export class WrongOutcomeError extends OrderStoreError {
  readonly code = "WRONG_OUTCOME";
  readonly outcome: string;
  constructor({
    outcome,
    version = null,
    asked,
  }: {
    outcome: string;
    version?: number | null;
    asked: "replay" | "drop" | "acknowledge";
  }) {
    super(
      version === null
        ? `an event that is ${outcome} cannot be ${ASKED[asked]}`
        : `already ${outcome} (version ${version})`,
    );
    this.name = "WrongOutcomeError";
    this.outcome = outcome;
  }
}

const ASKED = { replay: "replayed", drop: "dropped", acknowledge: "acknowledged" } as const;

/** Thrown when the alert of a rejected event was to be acknowledged and none is open. Nothing was changed. */
export class NoAlertError extends OrderStoreError {
  readonly code = "NO_ALERT";
  readonly source: string;
  readonly id: string;
  /** Whether there was one that somebody acknowledged; that one's reason stands. */
  readonly isAcknowledged: boolean;
  constructor({
    source,
    id,
    settled,
  }: {
    source: string;
    id: string;
    /** How somebody settled it before; null where nobody had to. */
    settled: "acknowledged" | "dropped" | null;
  }) {
    super(
      settled === null
        ? "nothing to acknowledge: it is rejected, and no alert of it is open"
        : `already ${settled}; the reason that was given first stands`,
    );
    this.name = "NoAlertError";
    this.source = source;
    this.id = id;
    this.isAcknowledged = settled === "acknowledged";
  }
}

/** Thrown when the schema lacks migrations that this build needs. */
export class SchemaBehindError extends OrderStoreError {
  readonly code = "SCHEMA_BEHIND";
  readonly pending: readonly string[];
  constructor({ pending }: { pending: readonly string[] }) {
    super(`the database lacks ${pending.length} migrations (next: ${pending[0]}); run junban migrate`);
    this.name = "SchemaBehindError";
    this.pending = pending;
  }
}

/** Thrown when the schema could not be brought up to date. Nothing was changed. */
export class MigrationError extends OrderStoreError {
  readonly code = "MIGRATION_FAILED";
  readonly migration: string | null;
  constructor(
    { migration, lockTimeoutMs }: { migration: string | null; lockTimeoutMs: number },
    options: { cause: unknown },
  ) {
    super(`migration ${migration ?? "set"} failed: ${whyNotMigrated(options.cause, lockTimeoutMs)}`, options);
    this.name = "MigrationError";
    this.migration = migration;
  }
}

function whyNotMigrated(cause: unknown, lockTimeoutMs: number): string {
  if (cause instanceof DatabaseError && cause.code === "55P03") {
    return (
      `another transaction uses a table that it needs, and did not end within ${lockTimeoutMs} ms; nothing was changed. ` +
      "Run it again, or end that transaction: pg_stat_activity shows it, often as idle in transaction"
    );
  }
  return cause instanceof Error ? cause.message : String(cause);
}

/**
 * What to do about an error of a transaction:
 * `lost` and `passing` go away by themselves; `tooLong` does with fewer events at once; `inbox` is answered by reading the
 * inbox again; `content` lies in one of the events; `unknown` is for people.
 */
export type TroubleClass = "lost" | "passing" | "tooLong" | "inbox" | "content" | "unknown";

const PASSING_STATES: ReadonlySet<string> = new Set(["40001", "40P01", "55P03", "25P03", "25P04"]);
const PASSING_CLASSES: ReadonlySet<string> = new Set(["08", "53"]);
const CONTENT_CLASSES: ReadonlySet<string> = new Set(["22", "23", "54"]);

export function classify(error: unknown): TroubleClass {
  if (error instanceof ConnectionLostError || error instanceof TripTimeoutError) return "lost";
  if (
    error instanceof PurgedMeanwhileError ||
    error instanceof OrderBusyError ||
    error instanceof PoolBusyError
  ) {
    return "passing";
  }
  if (!(error instanceof DatabaseError) || error.code === undefined) return "unknown";
  const state = error.code;
  if (state === "57014") return "tooLong";
  if (state.startsWith("57P0")) return "lost";
  if (PASSING_STATES.has(state) || PASSING_CLASSES.has(state.slice(0, 2))) return "passing";
  if (state === "23505" && error.constraint === "order_events_pkey") return "inbox";
  if (CONTENT_CLASSES.has(state.slice(0, 2))) return "content";
  return "unknown";
}

/** The answer to a trip that commits. */
export async function committed<Answer>(trip: Promise<Answer>): Promise<Answer> {
  try {
    return await trip;
  } catch (error) {
    // Whatever else a server says instead of an answer, it says about a transaction that it has rolled back.
    throw classify(error) === "lost" ? new CommitUnknownError({ cause: error }) : error;
  }
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/**
 * What went wrong, for people: the kind of error, and the rule of the schema or the place in the code. Not the message, which
 * may repeat anything that stood in the event.
 */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return `a thrown ${typeof error}`;
  if (error instanceof DatabaseError) {
    const { code, table, column, constraint } = error;
    return [`SQLSTATE ${code}`, constraint, table, column].filter((part) => part !== undefined).join(", ");
  }
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const names = [error.name, code].filter((part) => NAME.test(part));
  return [...names, ...placeOf(error)].join(", ");
}

/** What names look like that stand in code and not in data. */
const NAME = /^[A-Za-z_]{1,60}$/;

/** Where it was thrown. The stack begins with the message, which may be of any length and look like a stack itself. */
function placeOf({ message, stack = "" }: Error): string[] {
  const [header] = /^[A-Za-z]+(?:: )?/.exec(stack) ?? [];
  if (header === undefined || !stack.startsWith(message, header.length)) return [];
  const frames = stack.slice(header.length + message.length);
  const found = /^\s+at (?:([\w.<> ]+) \()?[^\n]*?([\w.-]+:\d+):\d+\)?$/m.exec(frames);
  if (found === null) return [];
  const [, where, line] = found;
  return [where === undefined ? `at ${line}` : `at ${where} ${line}`];
}
