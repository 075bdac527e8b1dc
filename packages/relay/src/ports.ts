/** Where the few lines go that a person should read. A pino logger fits. */
export interface RelayLogger {
  info(fields: object, line: string): void;
  warn(fields: object, line: string): void;
  error(fields: object, line: string): void;
}

/** Told what happened, for metrics. Must not throw. */
export interface RelayObserver {
  /** So many news are in the queue and out of the outbox. */
  passedOn(count: number): void;
  parked(): void;
  leads(isLeading: boolean): void;
  /** How old the oldest news are that wait, milliseconds; 0 when none wait, or another process leads. */
  lag(ms: number): void;
}
