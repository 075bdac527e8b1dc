import { ActionRecord, NotNotedError } from "@junban/operations";
import type { WorkOptions } from "@junban/operations";
import type { ActionEnd, NewAction, OrderStore } from "@junban/order-store";
import type { Logger } from "@junban/service";
import { Refusal } from "./refusal.ts";

export interface ActionsOptions {
  readonly store: Pick<OrderStore, "beginAction" | "endAction">;
  readonly logger: Pick<Logger, "info" | "error">;
}

/** Carries out what people do here, on record and in the log. */
export class Actions {
  readonly #logger: ActionsOptions["logger"];
  readonly #record: ActionRecord;

  constructor({ store, logger }: ActionsOptions) {
    this.#logger = logger;
    this.#record = new ActionRecord({
      store,
      // By a name that the log does not hide: these are our own words, never an error's.
      onEnd: ({ detail: says, ...ended }) => logger.info({ ...ended, says }, "an operator acted"),
      onUnnotedEnd: (unnoted) => logger.error(unnoted, "the end of an action could not be noted"),
    });
  }

  /**
   * @param work answers with what came of it, in words.
   * @returns the number of the note
   * @throws {Refusal} when it could not be noted; nothing was done then.
   */
  async carryOut(
    action: NewAction,
    work: () => Promise<string>,
    options: Omit<WorkOptions<string>, "told"> = {},
  ): Promise<number> {
    const acted = await this.#noted(action, () =>
      this.#record.carryOut(action, work, { told: (words) => words, ...options }),
    );
    if (acted.kind === "failed" && acted.act.changed !== "nothing") {
      this.#logger.error({ id: acted.id, error: acted.error }, "an action was not carried out whole");
    }
    return acted.id ?? 0;
  }

  /** @throws {Refusal} */
  async begin(action: NewAction): Promise<number> {
    return (await this.#noted(action, () => this.#record.begin(action))) ?? 0;
  }

  async end(id: number, action: NewAction, end: ActionEnd): Promise<void> {
    await this.#record.end(id, action, end);
  }

  async #noted<Result>(action: NewAction, ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof NotNotedError)) throw error;
      this.#logger.error(
        { ...action, error: error.cause },
        "an action could not be noted and was not carried out",
      );
      throw new Refusal(
        "SERVICE_AWAY",
        "This could not be noted in Postgres, so it was not done. Try again.",
      );
    }
  }
}
