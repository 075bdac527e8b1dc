/** Thrown when a worker ends although nobody asked it to. */
export class WorkerEndedError extends Error {
  readonly code = "WORKER_ENDED";
  readonly number: number;
  readonly pid: number;
  /** Null when a signal ended it. */
  readonly exitCode: number | null;

  constructor({
    number,
    pid,
    exitCode,
    how,
    output,
  }: {
    number: number;
    pid: number;
    exitCode: number | null;
    how: string;
    output: string;
  }) {
    super(`worker ${number} (pid ${pid}) ended by itself (${how}):\n${output}`.trimEnd());
    this.name = "WorkerEndedError";
    this.number = number;
    this.pid = pid;
    this.exitCode = exitCode;
  }
}

/** Thrown when a crew is asked about a worker that it never started. */
export class ForeignMemberError extends Error {
  readonly code = "FOREIGN_MEMBER";
  readonly number: number;

  constructor({ number }: { number: number }) {
    super(`this crew has no worker ${number}`);
    this.name = "ForeignMemberError";
    this.number = number;
  }
}

/** Thrown when the process that thinks the reference out ends without an answer. */
export class ReferenceMissingError extends Error {
  readonly code = "REFERENCE_MISSING";

  constructor() {
    super("the process that folds the published events ended without an answer");
    this.name = "ReferenceMissingError";
  }
}
