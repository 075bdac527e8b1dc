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

/** Reported when the forwarder's connection to Postgres broke or did not answer. What was under way is done again. */
export class ForwarderConnectionError extends Error {
  readonly code = "POSTGRES_AWAY";

  constructor(options: { cause: unknown }) {
    const why = options.cause instanceof Error ? options.cause.message : String(options.cause);
    super(`the connection to the producer's Postgres was lost: ${why}`, options);
    this.name = "ForwarderConnectionError";
  }
}
