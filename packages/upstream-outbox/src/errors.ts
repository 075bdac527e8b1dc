/** Thrown when an event may not be written: its envelope, its data or its size break a rule. Nothing was sent to the database. */
export class UnusableEventError extends Error {
  readonly code = "UNUSABLE_EVENT";
  /** Path of the offending field, such as `data.amount`; `event` for the event as a whole. */
  readonly field: string;
  /** What is allowed there. */
  readonly rule: string;

  constructor({ field, rule }: { field: string; rule: string }) {
    super(`${field}: ${rule}`);
    this.name = "UnusableEventError";
    this.field = field;
    this.rule = rule;
  }
}

/** Thrown when an event would not be part of a transaction, and a rollback could not take it back. Nothing was sent. */
export class NotInTransactionError extends Error {
  readonly code = "NOT_IN_TRANSACTION";

  constructor({ given }: { given: string }) {
    super(`an event is written inside a transaction; this is ${given}`);
    this.name = "NotInTransactionError";
  }
}

/** Reported while the producer's database has no outbox; run the migration. */
export class OutboxMissingError extends Error {
  readonly code = "OUTBOX_MISSING";

  constructor() {
    super("this database has no upstream outbox; migrate it first");
    this.name = "OutboxMissingError";
  }
}

/** Thrown when the outbox could not be installed or brought up to date. Nothing of the attempt was kept. */
export class OutboxMigrationError extends Error {
  readonly code = "MIGRATION_FAILED";

  constructor(options: { cause: unknown }) {
    super(`the outbox could not be migrated: ${messageOf(options.cause)}`, options);
    this.name = "OutboxMigrationError";
  }
}

/** Thrown, or reported by a forwarder, when Postgres cannot be reached or does not answer. A forwarder does again what was under way. */
export class OutboxConnectionError extends Error {
  readonly code = "POSTGRES_AWAY";

  constructor(options: { cause: unknown }) {
    super(`there is no connection to the producer's Postgres: ${messageOf(options.cause)}`, options);
    this.name = "OutboxConnectionError";
  }
}

/** Reported by a forwarder when more lanes are full than it passes over one by one (1,000). Everything waits, and is tried again. */
export class TooManyFullLanesError extends Error {
  readonly code = "LANES_FULL";

  constructor() {
    super("more lanes are full than can be passed over one by one");
    this.name = "TooManyFullLanesError";
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : "no reason was given";
}
