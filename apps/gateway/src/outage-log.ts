import type { Logger } from "@junban/service";
import type { EventResult } from "./intake.ts";

/** One line when events begin not to be acknowledged, and one when they are again: however many requests meet the outage. */
export class OutageLog {
  readonly #logger: Pick<Logger, "info" | "warn">;
  #isOut = false;

  constructor({ logger }: { logger: Pick<Logger, "info" | "warn"> }) {
    this.#logger = logger;
  }

  published(results: readonly EventResult[]): void {
    for (const result of results) {
      if (result.status === 503) {
        if (!this.#isOut) this.#logger.warn({ code: result.code }, "Redis does not acknowledge events");
        this.#isOut = true;
        return;
      }
    }
    // Only what reached Redis says that it is back; a refused event may never have gone there.
    if (!this.#isOut || results.every(({ status }) => status !== 202)) return;
    this.#isOut = false;
    this.#logger.info({}, "Redis acknowledges events again");
  }
}
