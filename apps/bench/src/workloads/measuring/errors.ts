/** Thrown when the flood was over before the last of the other orders' events was decided, so that nothing was measured. */
export class FloodEndedError extends Error {
  readonly code = "FLOOD_ENDED";
  readonly flood: number;
  readonly others: number;

  constructor({ flood, others }: { flood: number; others: number }) {
    super(`a flood of ${flood} events was over before ${others} single events beside it were decided`);
    this.name = "FloodEndedError";
    this.flood = flood;
    this.others = others;
  }
}

/** Thrown when the process that publishes a flood ended before it had published all of it. */
export class ProducerFailedError extends Error {
  readonly code = "PRODUCER_FAILED";
  readonly exitCode: number | null;
  readonly signal: string | null;

  constructor({ code, signal, said }: { code: number | null; signal: string | null; said: string }) {
    super(`the producer of the flood ended with ${signal ?? code ?? "nothing"}: ${said.slice(-2_000)}`);
    this.name = "ProducerFailedError";
    this.exitCode = code;
    this.signal = signal;
  }
}

/** Thrown when events that a measurement stands on were not decided in the time they had. */
export class UndecidedError extends Error {
  readonly code = "UNDECIDED";
  readonly left: number;
  readonly of: number;

  constructor({ what, left, of }: { what: string; left: number; of: number }, cause?: unknown) {
    super(`${what}: ${left} of ${of} events were not decided in time`, { cause });
    this.name = "UndecidedError";
    this.left = left;
    this.of = of;
  }
}

/** Thrown when a database does not hold the number of rows that its past, or its round, should have left. */
export class WrongPastError extends Error {
  readonly code = "WRONG_PAST";
  readonly rows: number;
  readonly expected: number;

  constructor({ what, rows, expected }: { what: string; rows: number; expected: number }) {
    super(`${what}: the inbox holds ${rows} rows and should hold ${expected}`);
    this.name = "WrongPastError";
    this.rows = rows;
    this.expected = expected;
  }
}
