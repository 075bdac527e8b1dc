import { UnusableUpdateError } from "@junban/event-queues";
import type { JobEnd, QueuedUpdate } from "@junban/event-queues";
import type {
  ConsumeOrderUpdatesOptions,
  OrderUpdate,
  TransactionContext,
  UpdateCounts,
} from "./contract.ts";
import { HandlerFailedError, TransactionEndedError } from "./errors.ts";
import type { Guard, Passage } from "./guard.ts";
import { OneAtATime } from "./one-at-a-time.ts";
import type { Settings } from "./settings.ts";
import { StandingOrders } from "./standing-orders.ts";

const LONGEST_RETRY_MS = 60_000;
/** A job that cannot go yet is looked at again after this, for each version that has to go before it … */
const LOOK_MS = 100;
/**
 * … and this part of the time for which its order has stood still, so that a long line of one order costs little, and an order that
 * stands still less and less. How long the job itself has waited does not count: once its order moves, it is soon its turn.
 */
const LOOK_SHARE = 1 / 16;
const LONGEST_LOOK_MS = 2_000;

const LCID = /^[0-9A-Za-z._:@/+=~-]{1,128}$/;

/** What a handler is given depends on the guard. */
export type Handler<Context> = (update: OrderUpdate, context: Context) => Promise<void>;

export interface UpdateDeskOptions {
  readonly settings: Settings;
  readonly observers: Pick<ConsumeOrderUpdatesOptions, "onGap" | "onSkipped" | "onError">;
  readonly guard: Guard<Partial<TransactionContext>>;
  readonly stopping: AbortSignal;
  readonly handler: Handler<Partial<TransactionContext>>;
}

/** Takes each job to the guard and says how it ends. */
export class UpdateDesk {
  readonly #options: UpdateDeskOptions;
  readonly #orders = new OneAtATime();
  readonly #standing = new StandingOrders();
  readonly #counts = { handled: 0, gaps: 0, skipped: 0, failed: 0, unusable: 0 };

  constructor(options: UpdateDeskOptions) {
    this.#options = options;
  }

  counts(): UpdateCounts {
    return { ...this.#counts };
  }

  /** Passes on what those who fetch have to tell. */
  report(error: Error): void {
    if (error instanceof UnusableUpdateError) this.#counts.unusable += 1;
    this.#options.observers.onError?.(error);
  }

  async process({ data, stepsBack }: QueuedUpdate): Promise<JobEnd> {
    const update = readUpdate(data);
    if (update === null) return { kind: "unusable", reason: "it names no order and version" };
    return this.#orders.run(update.lcid, async () => this.#attempt(update, stepsBack));
  }

  /** Rejects when the guard could not be asked: whoever fetches tells of it, once an outage, and puts the job back. */
  async #attempt(update: OrderUpdate, stepsBack: number): Promise<JobEnd> {
    if (this.#options.stopping.aborted) return { kind: "delayed", delayMs: 0 };
    let passage: Passage;
    try {
      passage = await this.#passed(update);
    } catch (error) {
      this.#counts.failed += 1;
      if (!(error instanceof HandlerFailedError || error instanceof TransactionEndedError)) throw error;
      this.report(error);
      return { kind: "delayed", delayMs: this.#pauseMs(stepsBack) };
    }
    return this.#ended(update, passage);
  }

  async #passed(update: OrderUpdate): Promise<Passage> {
    const { guard, handler, stopping } = this.#options;
    return guard.pass(update, async (gap, context) => {
      const signals = context.signal === undefined ? [stopping] : [stopping, context.signal];
      try {
        await underAny(signals, async (signal) => handler({ ...update, gap }, { ...context, signal }));
      } catch (error) {
        throw new HandlerFailedError(update, { cause: error });
      }
    });
  }

  /** Shorter than others wait for a missing version, or a version that fails would be taken for one. */
  #pauseMs(stepsBack: number): number {
    const { retryMs, gapWaitMs } = this.#options.settings;
    const longestMs = Math.max(retryMs, Math.min(LONGEST_RETRY_MS, gapWaitMs / 3));
    return Math.min(retryMs * 2 ** stepsBack, longestMs);
  }

  #ended(update: OrderUpdate, passage: Passage): JobEnd {
    const { observers } = this.#options;
    const { lcid, version } = update;
    switch (passage.kind) {
      case "handled": {
        const { gap } = passage;
        this.#standing.moved(lcid);
        this.#counts.handled += 1;
        if (gap === null) return { kind: "completed" };
        this.#counts.gaps += 1;
        observers.onGap?.({ ...update, gap });
        return { kind: "completed" };
      }
      case "skipped": {
        this.#counts.skipped += 1;
        observers.onSkipped?.({ lcid, version, last: passage.last });
        return { kind: "completed" };
      }
      case "waiting":
        return this.#lookAgain(lcid, { missing: passage.missing, due: version - passage.missing });
      case "busy":
        return this.#lookAgain(lcid, { missing: 1, due: null });
    }
  }

  #lookAgain(
    lcid: string,
    { missing, due }: { readonly missing: number; readonly due: number | null },
  ): JobEnd {
    const delayMs = LOOK_MS * missing + Math.round(LOOK_SHARE * this.#standing.stoodMs(lcid, { due }));
    return { kind: "delayed", delayMs: Math.min(delayMs, LONGEST_LOOK_MS) };
  }
}

/** One signal for one run of a handler, of which nothing stays on those that outlive it, whatever the handler hangs on it. */
async function underAny(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const any = new AbortController();
  const over = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) any.abort(signal.reason);
    signal.addEventListener("abort", () => any.abort(signal.reason), { once: true, signal: over.signal });
  }
  try {
    await work(any.signal);
  } finally {
    over.abort();
  }
}

function readUpdate(data: unknown): OrderUpdate | null {
  if (typeof data !== "object" || data === null) return null;
  const payload = data as Readonly<Record<string, unknown>>;
  const { lcid, version } = payload;
  if (typeof lcid !== "string" || !LCID.test(lcid)) return null;
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 1) return null;
  return { lcid, version, gap: null, payload };
}
