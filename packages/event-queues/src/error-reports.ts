const QUIET_MS = 60_000;
const MOST_KINDS = 64;

/**
 * Passes on the first error of an outage and swallows its repetitions: a kind of error that was last seen less than a
 * minute ago belongs to the same outage. Retries come every second, so one outage is one report however long it lasts.
 */
export class ErrorReports {
  readonly #report: (error: Error) => void;
  readonly #nowMs: () => number;
  readonly #lastSeenMs = new Map<string, number>();

  constructor(report: (error: Error) => void, nowMs: () => number = () => performance.now()) {
    this.#report = report;
    this.#nowMs = nowMs;
  }

  add(error: unknown): void {
    const known = error instanceof Error ? error : new Error(String(error));
    const kind = kindOf(known);
    const nowMs = this.#nowMs();
    const lastMs = this.#lastSeenMs.get(kind);
    this.#lastSeenMs.delete(kind);
    this.#lastSeenMs.set(kind, nowMs);
    this.#forgetOldest();
    if (lastMs === undefined || nowMs - lastMs >= QUIET_MS) this.#report(known);
  }

  /** The connection is back: its next failure is news again. */
  connected(): void {
    this.#lastSeenMs.delete(CONNECTION);
  }

  #forgetOldest(): void {
    if (this.#lastSeenMs.size <= MOST_KINDS) return;
    const [oldest] = this.#lastSeenMs.keys();
    if (oldest !== undefined) this.#lastSeenMs.delete(oldest);
  }
}

const CONNECTION = "connection";
const CONNECTION_TROUBLE =
  /^(connect|read|write|getaddrinfo) E|Connection is closed|Socket timeout|isn't writeable|max retries per request/;

/** Errors that differ only in numbers and ids are of one kind. */
function kindOf(error: Error): string {
  if (CONNECTION_TROUBLE.test(error.message)) return CONNECTION;
  return `${error.name}: ${error.message.replaceAll(/[0-9a-f-]*\d[0-9a-f:-]*/gi, "#").slice(0, 200)}`;
}
