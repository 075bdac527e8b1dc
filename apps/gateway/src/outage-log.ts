import type { Logger } from "@junban/service";
import type { EventResult } from "./intake.ts";

export interface OutageLogOptions {
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Seam for tests, milliseconds that only grow. */
  readonly nowMs?: () => number;
}

/** A Redis that takes one event and refuses the next is out all the while. */
const CALM_MS = 1_000;

/** One line when events begin not to be acknowledged, and one when they are again: however many requests meet the outage. */
export class OutageLog {
  readonly #logger: OutageLogOptions["logger"];
  readonly #nowMs: () => number;
  #isOut = false;
  #refusedAtMs = 0;

  constructor({ logger, nowMs = () => performance.now() }: OutageLogOptions) {
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  published(results: readonly EventResult[]): void {
    for (const result of results) {
      if (result.status === 503) {
        if (!this.#isOut) this.#logger.warn({ code: result.code }, "Redis does not acknowledge events");
        this.#isOut = true;
        this.#refusedAtMs = this.#nowMs();
        return;
      }
    }
    // Only what reached Redis says that it is back; a refused event may never have gone there.
    if (!this.#isOut || results.every(({ status }) => status !== 202)) return;
    if (this.#nowMs() - this.#refusedAtMs < CALM_MS) return;
    this.#isOut = false;
    this.#logger.info({}, "Redis acknowledges events again");
  }
}
