import { constants } from "node:os";

/** Thrown into everything that waits when a person, or a supervisor, ends a run. */
export class InterruptedError extends Error {
  readonly code = "INTERRUPTED";
  readonly signal: NodeJS.Signals;
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`${signal}: everything was taken down`);
    this.name = "InterruptedError";
    this.signal = signal;
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** Rejects with the signal's reason as soon as it fires, and otherwise settles like `work`, which goes on by itself. */
export async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  if (signal.aborted) {
    // Nobody waits for it any more, so nobody would hear of it either.
    work.catch(() => undefined);
    throw signal.reason;
  }
  return new Promise<Result>((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", giveUp, { once: true });
    const settled = (): void => signal.removeEventListener("abort", giveUp);
    work.finally(settled).then(resolve, reject);
  });
}
