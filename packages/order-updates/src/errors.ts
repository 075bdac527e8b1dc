/** Every error of this package has a code, and data where there is some. */
export type OrderUpdatesErrorCode =
  | "INVALID_OPTION"
  | "GUARD_TABLE_MISSING"
  | "GUARD_UNAVAILABLE"
  | "HANDLER_FAILED"
  | "TRANSACTION_ENDED"
  | "STALE_READ";

/** What all errors of this package have in common. */
export class OrderUpdatesError extends Error {
  readonly code: OrderUpdatesErrorCode;

  constructor(code: OrderUpdatesErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Thrown when an option is outside its limits. */
export class InvalidOptionError extends OrderUpdatesError {
  readonly option: string;

  constructor({ option, rule }: { option: string; rule: string }) {
    super("INVALID_OPTION", `${option}: ${rule}`);
    this.option = option;
  }
}

/** Reported when the database has no table `order_updates_seen`: call `createGuardTable` first. The update comes again. */
export class GuardTableMissingError extends OrderUpdatesError {
  constructor(options?: ErrorOptions) {
    super("GUARD_TABLE_MISSING", "the table order_updates_seen is missing: call createGuardTable", options);
  }
}

/**
 * Reported, once an outage, when the last version could not be read or written; `cause` says more where there is more. The update
 * comes again. Also what a handler's own statement fails with when it is not answered within `leaseMs`.
 */
export class GuardUnavailableError extends OrderUpdatesError {
  constructor({ detail }: { detail: string }, options?: ErrorOptions) {
    super("GUARD_UNAVAILABLE", `the last version could not be read or written (${detail})`, options);
  }
}

/** Reported when a handler threw; `cause` is what it threw. The update comes again. */
export class HandlerFailedError extends OrderUpdatesError {
  readonly lcid: string;
  readonly version: number;

  constructor({ lcid, version }: { lcid: string; version: number }, options: ErrorOptions) {
    super("HANDLER_FAILED", `the handler failed at version ${version} of ${lcid}`, options);
    this.lcid = lcid;
    this.version = version;
  }
}

/**
 * Reported when a handler left the transaction it was lent unfit to commit: it ended it, or swallowed the failure of a statement,
 * or wrote what a deferred constraint refuses; then `cause` is Postgres' error. The version did not advance, and the update comes
 * again. Also what a transaction fails with that is used after its handler.
 */
export class TransactionEndedError extends OrderUpdatesError {
  constructor(options?: ErrorOptions) {
    super(
      "TRANSACTION_ENDED",
      "the handler's transaction was over or broken when it was to be committed",
      options,
    );
  }
}

/** Thrown when a read kept answering with an older version than the update's. */
export class StaleReadError extends OrderUpdatesError {
  readonly lcid: string;
  readonly wanted: number;
  readonly got: number | null;

  constructor({ lcid, wanted, got }: { lcid: string; wanted: number; got: number | null }) {
    super("STALE_READ", `${lcid} was read at version ${got ?? "none"}, wanted ${wanted} or later`);
    this.lcid = lcid;
    this.wanted = wanted;
    this.got = got;
  }
}
