import { DeadJobNotFoundError, LaneBusyError } from "@junban/operations";
import { EventNotFoundError, WrongOutcomeError } from "@junban/order-store";
import type { ActionEnd, NewAction, OrderStore } from "@junban/order-store";
import { errorLine } from "@junban/service";
import type { Logger } from "@junban/service";
import { Refusal } from "./refusal.ts";

export interface ActionsOptions {
  readonly store: Pick<OrderStore, "beginAction" | "endAction">;
  readonly logger: Pick<Logger, "info" | "error">;
}

/** Something that can be refused without anything being wrong: somebody was faster, or the order is busy. */
const REFUSED = [EventNotFoundError, WrongOutcomeError, DeadJobNotFoundError, LaneBusyError];

/**
 * Carries out what people do, and keeps who, when, what and with which result, in Postgres and in the log. What cannot be noted
 * beforehand is not done; of what was interrupted the beginning stands.
 */
export class Actions {
  readonly #options: ActionsOptions;

  constructor(options: ActionsOptions) {
    this.#options = options;
  }

  /**
   * @param work answers with what came of it, in words.
   * @returns the number of the note
   * @throws {Refusal} when it could not be noted; nothing was done then.
   */
  async carryOut(action: NewAction, work: () => Promise<string>): Promise<number> {
    const id = await this.begin(action);
    await this.end(id, action, await endOf(work));
    return id;
  }

  async begin(action: NewAction): Promise<number> {
    try {
      return await this.#options.store.beginAction(action);
    } catch (error) {
      this.#options.logger.error(
        { ...action, error },
        "an action could not be noted and was not carried out",
      );
      throw new Refusal(
        "SERVICE_AWAY",
        "This could not be noted in Postgres, so it was not done. Try again.",
      );
    }
  }

  async end(id: number, action: NewAction, end: ActionEnd): Promise<void> {
    const { store, logger } = this.#options;
    logger.info({ id, ...action, ...end }, "an operator acted");
    try {
      await store.endAction({ id, ...end });
    } catch (error) {
      logger.error({ id, error }, "the end of an action could not be noted");
    }
  }
}

async function endOf(work: () => Promise<string>): Promise<ActionEnd> {
  try {
    return { result: "done", detail: await work() };
  } catch (error) {
    const isRefused = REFUSED.some((kind) => error instanceof kind);
    return { result: isRefused ? "refused" : "failed", detail: errorLine(error) };
  }
}
