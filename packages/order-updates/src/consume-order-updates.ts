import { consumeUpdates, unsubscribeUpdates } from "@junban/event-queues";
import type { QueuedUpdate, RedisAddress } from "@junban/event-queues";
import type {
  ConsumeOrderUpdatesOptions,
  Database,
  HandlerContext,
  OrderUpdate,
  OrderUpdatesConsumer,
  TransactionContext,
  UpdateCounts,
} from "./contract.ts";
import { HandlerFailedError } from "./errors.ts";
import { GuardInPostgres } from "./guard-in-postgres.ts";
import { GuardInRedis } from "./guard-in-redis.ts";
import type { Guard, Passage } from "./guard.ts";
import { OneAtATime } from "./one-at-a-time.ts";
import { checkName, readSettings } from "./settings.ts";
import type { Settings } from "./settings.ts";

const LONGEST_RETRY_MS = 60_000;
const FIRST_LOOK_MS = 100;
const LONGEST_LOOK_MS = 250;
const LCID = /^[0-9A-Za-z._:@/+=~-]{1,128}$/;

type JobEnd = Awaited<ReturnType<Parameters<typeof consumeUpdates>[0]["process"]>>;
type Handler<Context> = (update: OrderUpdate, context: Context) => Promise<void>;

/**
 * Calls the handler for each order's updates, versions rising, none twice. With `database`, the effect a handler writes in
 * `context.transaction` happens exactly once; without, a handler may run again for the same version after a crash.
 * Resolves when the name is subscribed.
 *
 * @throws {InvalidOptionError} when an option is outside its limits.
 * @throws {QueueUnavailableError} when Redis did not take the subscription within ten seconds.
 */
export async function consumeOrderUpdates(
  options: ConsumeOrderUpdatesOptions & { readonly database: Database },
  handler: Handler<TransactionContext>,
): Promise<OrderUpdatesConsumer>;
export async function consumeOrderUpdates(
  options: ConsumeOrderUpdatesOptions & { readonly database?: undefined },
  handler: Handler<HandlerContext>,
): Promise<OrderUpdatesConsumer>;
export async function consumeOrderUpdates(
  options: ConsumeOrderUpdatesOptions & { readonly database?: Database | undefined },
  handler: Handler<TransactionContext>,
): Promise<OrderUpdatesConsumer> {
  const settings = readSettings(options);
  const { database, redis, name } = options;
  const { gapWaitMs, leaseMs } = settings;
  const report = (error: Error): void => options.onError?.(error);
  const stopping = new AbortController();
  const guard =
    database === undefined
      ? new GuardInRedis({
          redis,
          prefix: `${settings.prefix}:updates:${name}`,
          gapWaitMs,
          leaseMs,
          onError: report,
        })
      : new GuardInPostgres({ database, name, gapWaitMs, idleMs: leaseMs });
  const desk = new UpdateDesk({
    settings,
    observers: options,
    guard,
    stopping: stopping.signal,
    handler: handler as Handler<Partial<TransactionContext>>,
  });
  const consumer = await consumeUpdates({
    redis,
    prefix: settings.prefix,
    name,
    concurrency: settings.concurrency,
    lockDurationMs: leaseMs,
    process: async (job) => desk.process(job),
    onError: report,
  }).catch(async (error: unknown) => {
    await guard.close();
    throw error;
  });
  let closing: Promise<void> | undefined;
  const close = async (deadlineMs: number): Promise<void> => {
    stopping.abort();
    await consumer.close({ deadlineMs });
    await guard.close();
  };
  return {
    counts: () => desk.counts(),
    close: async ({ deadlineMs = 10_000 } = {}) => (closing ??= close(deadlineMs)),
  };
}

/**
 * Ends a name's subscription and deletes the updates that wait for it; what it has seen stays where it was remembered. Its
 * consumers must be closed before. Until then the updates of a name that nobody serves pile up in Redis.
 */
export async function forgetOrderUpdates(options: {
  readonly redis: RedisAddress;
  readonly prefix?: string;
  readonly name: string;
}): Promise<void> {
  checkName(options.name);
  await unsubscribeUpdates(options);
}

interface DeskOptions {
  readonly settings: Settings;
  readonly observers: Pick<ConsumeOrderUpdatesOptions, "onGap" | "onSkipped" | "onError">;
  readonly guard: Guard<Partial<TransactionContext>>;
  readonly stopping: AbortSignal;
  readonly handler: Handler<Partial<TransactionContext>>;
}

/** Takes each job to the guard and says how it ends. */
class UpdateDesk {
  readonly #options: DeskOptions;
  readonly #orders = new OneAtATime();
  readonly #counts = { handled: 0, gaps: 0, skipped: 0, failed: 0 };

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  counts(): UpdateCounts {
    return { ...this.#counts };
  }

  async process({ data, stepsBack }: QueuedUpdate): Promise<JobEnd> {
    const update = readUpdate(data);
    if (update === null) return { kind: "unusable", reason: "it names no order and version" };
    return this.#orders.run(update.lcid, async () => this.#attempt(update, stepsBack));
  }

  async #attempt(update: OrderUpdate, stepsBack: number): Promise<JobEnd> {
    const { guard, stopping, observers, settings } = this.#options;
    if (stopping.aborted) return { kind: "delayed", delayMs: 0 };
    try {
      return this.#ended(update, { passage: await this.#passed(guard, update), stepsBack });
    } catch (error) {
      this.#counts.failed += 1;
      observers.onError?.(error instanceof Error ? error : new Error(String(error)));
      return { kind: "delayed", delayMs: Math.min(settings.retryMs * 2 ** stepsBack, LONGEST_RETRY_MS) };
    }
  }

  async #passed(guard: Guard<Partial<TransactionContext>>, update: OrderUpdate): Promise<Passage> {
    const { handler, stopping } = this.#options;
    return guard.pass(update, async (gap, context) => {
      const signal = context.signal === undefined ? stopping : AbortSignal.any([stopping, context.signal]);
      try {
        await handler({ ...update, gap }, { ...context, signal });
      } catch (error) {
        throw new HandlerFailedError(update, { cause: error });
      }
    });
  }

  #ended(
    update: OrderUpdate,
    { passage, stepsBack }: { readonly passage: Passage; readonly stepsBack: number },
  ): JobEnd {
    const { observers } = this.#options;
    switch (passage.kind) {
      case "handled": {
        const { gap } = passage;
        this.#counts.handled += 1;
        if (gap === null) return { kind: "completed" };
        this.#counts.gaps += 1;
        observers.onGap?.({ ...update, gap });
        return { kind: "completed" };
      }
      case "skipped": {
        const { lcid, version } = update;
        this.#counts.skipped += 1;
        observers.onSkipped?.({ lcid, version, last: passage.last });
        return { kind: "completed" };
      }
      case "waiting":
      case "busy":
        return { kind: "delayed", delayMs: Math.min(FIRST_LOOK_MS * 2 ** stepsBack, LONGEST_LOOK_MS) };
    }
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
