import type { ActionEnd, NewAction, OrderStore } from "@junban/order-store";
import { failedAct, type FailedAct, type FailedActOptions } from "./failed-act.ts";

/** What could not be noted beforehand. Nothing was done. */
export class NotNotedError extends Error {
  readonly code = "NOT_NOTED";

  constructor(options: { cause: unknown }) {
    const next =
      stateOf(options.cause) === RIGHT_MISSING
        ? "give this command's role select, insert and update on operator_actions"
        : "try again";
    super(`this could not be noted in Postgres, so it was not done; ${next}`, options);
    this.name = "NotNotedError";
  }
}

export interface ActionRecordOptions {
  readonly store: Pick<OrderStore, "beginAction" | "endAction">;
  /** Told of each act that has ended; must not throw. */
  readonly onEnd?: (action: NewAction & ActionEnd & { readonly id: number | null }) => void;
  /** Told when an end could not be noted: the act's beginning stands alone then. Must not throw. */
  readonly onUnnotedEnd?: (unnoted: { readonly id: number; readonly error: unknown }) => void;
  /** Told when there is no table to note anything in. Without it such a database is an error. Must not throw. */
  readonly onOldSchema?: () => void;
}

/** What came of an act. */
export type ActCarriedOut<Result> =
  | { readonly kind: "done"; readonly id: number | null; readonly result: Result }
  | { readonly kind: "failed"; readonly id: number | null; readonly error: unknown; readonly act: FailedAct };

export interface WorkOptions<Result> extends FailedActOptions {
  /** The result in words, for the record. */
  readonly told: (result: Result) => string;
}

const UNDEFINED_TABLE = "42P01";
const RIGHT_MISSING = "42501";

/**
 * Carries out what people do, and keeps who, when, what and with which result, in Postgres. What cannot be noted beforehand is not
 * done; of what was interrupted the beginning stands.
 */
export class ActionRecord {
  readonly #options: ActionRecordOptions;

  constructor(options: ActionRecordOptions) {
    this.#options = options;
  }

  /**
   * Never rejects because of the work: what became of it is told, and why.
   * @throws {NotNotedError} when it could not be noted; nothing was done then.
   */
  async carryOut<Result>(
    action: NewAction,
    work: () => Promise<Result>,
    { told, ...options }: WorkOptions<Result>,
  ): Promise<ActCarriedOut<Result>> {
    const id = await this.begin(action);
    try {
      const result = await work();
      await this.end(id, action, { result: "done", detail: told(result) });
      return { kind: "done", id, result };
    } catch (error) {
      const act = failedAct(error, options);
      await this.end(id, action, { result: RESULTS[act.changed], detail: act.says });
      return { kind: "failed", id, error, act };
    }
  }

  /**
   * @returns the number of the note; null where the schema is older than the record and that is allowed.
   * @throws {NotNotedError}
   */
  async begin(action: NewAction): Promise<number | null> {
    const { store, onOldSchema } = this.#options;
    try {
      return await store.beginAction(action);
    } catch (error) {
      if (onOldSchema === undefined || !isOldSchema(error)) throw new NotNotedError({ cause: error });
      onOldSchema();
      return null;
    }
  }

  /** Never rejects. */
  async end(id: number | null, action: NewAction, end: ActionEnd): Promise<void> {
    const { store, onEnd, onUnnotedEnd } = this.#options;
    onEnd?.({ id, ...action, ...end });
    if (id === null) return;
    try {
      await store.endAction({ id, ...end });
    } catch (error) {
      onUnnotedEnd?.({ id, error });
    }
  }
}

const RESULTS = { nothing: "refused", part: "done", unknown: "failed" } as const;

function isOldSchema(error: unknown): boolean {
  return stateOf(error) === UNDEFINED_TABLE;
}

function stateOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, "code") : undefined;
}
