import { EXIT } from "./errors.ts";
import type { Logger } from "./logger.ts";

export interface ShutdownStep {
  /** Named in the log when it takes too long. */
  name: string;
  /** The signal aborts when the grace is over; what is not done by then is left undone. */
  run(signal: AbortSignal): Promise<void> | void;
}

export interface ShutdownOptions {
  graceMs: number;
  logger: Pick<Logger, "info" | "warn" | "error" | "fatal">;
  /** Run one after another, in this order. */
  steps?: readonly ShutdownStep[];
  /** The process whose signals are heard; a seam for tests. */
  host?: ShutdownHost;
}

export interface ShutdownHost {
  on(event: string, listener: (argument: unknown) => void): unknown;
  off(event: string, listener: (argument: unknown) => void): unknown;
  exit(code: number): void;
}

export interface Shutdown {
  /** Aborts the moment the end begins: waiting and polling stop at once, open work finishes. */
  readonly signal: AbortSignal;
  /** Adds a step behind the others, for things that came into being after the start. */
  add(step: ShutdownStep): void;
  /** Begins the end from within, as a signal does from outside. A second call changes nothing. */
  begin(reason: string, exitCode?: number): Promise<void>;
  /** Stops listening for signals, for tests and programs that end by themselves. */
  dispose(): void;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
/** A terminal's Ctrl-C reaches the whole process group, and npm passes it on once more: that is one request, not two. */
const ECHO_MS = 250;

/**
 * The end of a process: the first SIGTERM or SIGINT runs the steps, within the grace, and exits with 0; what fails or takes too
 * long makes it 1; a second signal exits at once (the same one again within a quarter of a second is its echo). An exception that nobody caught is logged, redacted, and exits with 1.
 */
export function createShutdown(options: ShutdownOptions): Shutdown {
  return new GracefulEnd(options);
}

class GracefulEnd implements Shutdown {
  readonly #options: ShutdownOptions;
  readonly #host: ShutdownHost;
  readonly #steps: ShutdownStep[];
  readonly #began = new AbortController();
  readonly #listeners: readonly (readonly [string, (argument: unknown) => void])[];
  #ending: Promise<void> | undefined;
  #heard: { readonly name: string; readonly atMs: number } | undefined;

  constructor(options: ShutdownOptions) {
    this.#options = options;
    this.#host = options.host ?? processHost;
    this.#steps = [...(options.steps ?? [])];
    this.#listeners = [
      ...SIGNALS.map((name) => [name, () => this.#onSignal(name)] as const),
      ["uncaughtException", (error) => this.#onUncaught(error)],
    ];
    for (const [event, listener] of this.#listeners) this.#host.on(event, listener);
  }

  get signal(): AbortSignal {
    return this.#began.signal;
  }

  add(step: ShutdownStep): void {
    this.#steps.push(step);
  }

  async begin(reason: string, exitCode: number = EXIT.done): Promise<void> {
    this.#ending ??= this.#end(reason, exitCode);
    await this.#ending;
  }

  dispose(): void {
    for (const [event, listener] of this.#listeners) this.#host.off(event, listener);
  }

  #onSignal(name: string): void {
    const nowMs = performance.now();
    const before = this.#heard;
    this.#heard = { name, atMs: nowMs };
    if (before?.name === name && nowMs - before.atMs < ECHO_MS) return;
    if (before !== undefined) {
      this.#options.logger.warn({ signal: name }, "asked to stop a second time: ending at once");
      this.#host.exit(EXIT.wrong);
      return;
    }
    void this.begin(name);
  }

  #onUncaught(error: unknown): void {
    // Nothing is known about the state of this process any more. Its leases lapse; its jobs are taken up by others.
    this.#options.logger.fatal({ err: error }, "an error that nobody caught: ending at once");
    this.#host.exit(EXIT.wrong);
  }

  async #end(reason: string, exitCode: number): Promise<void> {
    const { graceMs, logger } = this.#options;
    const startMs = performance.now();
    logger.info({ reason, graceMs }, "shutting down");
    this.#began.abort(new Error(`shutting down: ${reason}`));
    // Not AbortSignal.timeout: its timer does not keep a process alive, and a step may wait for nothing but it.
    const grace = new AbortController();
    const timer = setTimeout(() => grace.abort(new Error("the grace is over")), graceMs);
    const isClean = await this.#runSteps(grace.signal);
    clearTimeout(timer);
    const code = isClean ? exitCode : Math.max(exitCode, EXIT.wrong);
    logger.info({ reason, exitCode: code, tookMs: Math.round(performance.now() - startMs) }, "shut down");
    this.dispose();
    this.#host.exit(code);
  }

  async #runSteps(grace: AbortSignal): Promise<boolean> {
    const { logger, graceMs } = this.#options;
    const overdue = new Promise<"overdue">((resolve) => {
      grace.addEventListener("abort", () => resolve("overdue"), { once: true });
    });
    let isClean = true;
    // Read by index: a step may add another one.
    for (let index = 0; index < this.#steps.length; index++) {
      const step = this.#steps[index];
      if (step === undefined) break;
      try {
        const result = await Promise.race([Promise.resolve(step.run(grace)), overdue]);
        if (result !== "overdue") continue;
        const undone = this.#steps.slice(index).map(({ name }) => name);
        logger.error({ undone, graceMs }, "the grace is over: ending with steps undone");
        return false;
      } catch (error) {
        // The others still get their turn: what one of them holds must not stay held because another failed.
        isClean = false;
        logger.error({ step: step.name, err: error }, "a step of the shutdown failed");
      }
    }
    return isClean;
  }
}

const processHost: ShutdownHost = {
  on: (event, listener) => process.on(event, listener),
  off: (event, listener) => process.off(event, listener),
  exit: (code) => process.exit(code),
};
