import { setMaxListeners } from "node:events";
import { consumeUpdates, readUpdateBacklog, unsubscribeUpdates } from "@junban/event-queues";
import type { RedisAddress, UpdateBacklog } from "@junban/event-queues";
import type {
  ConsumeOrderUpdatesOptions,
  Database,
  HandlerContext,
  OrderUpdatesConsumer,
  TransactionContext,
} from "./contract.ts";
import { GuardInPostgres } from "./guard-in-postgres.ts";
import { GuardInRedis } from "./guard-in-redis.ts";
import type { Guard } from "./guard.ts";
import { checkName, readSettings } from "./settings.ts";
import type { Settings } from "./settings.ts";
import { UpdateDesk } from "./update-desk.ts";
import type { Handler } from "./update-desk.ts";

type Options<Given> = ConsumeOrderUpdatesOptions & Given;

/**
 * Calls the handler for each order's updates, versions rising, none twice. With `database`, the effect a handler writes in
 * `context.transaction` happens exactly once; without, a handler may run again for the same version after a crash.
 * Resolves when the name is subscribed.
 *
 * @throws {InvalidOptionError} when an option is outside its limits.
 * @throws {QueueUnavailableError} when Redis did not take the subscription within ten seconds.
 */
export async function consumeOrderUpdates(
  options: Options<{ readonly database: Database }>,
  handler: Handler<TransactionContext>,
): Promise<OrderUpdatesConsumer>;
export async function consumeOrderUpdates(
  options: Options<{ readonly database?: undefined }>,
  handler: Handler<HandlerContext>,
): Promise<OrderUpdatesConsumer>;
export async function consumeOrderUpdates(
  options: Options<{ readonly database?: Database | undefined }>,
  handler: Handler<TransactionContext>,
): Promise<OrderUpdatesConsumer> {
  const settings = readSettings(options);
  const { redis, name } = options;
  const stopping = new AbortController();
  // Every handler under way listens, and a thousand of them are allowed.
  setMaxListeners(0, stopping.signal);
  const guard = guardFor(options, settings);
  const desk = new UpdateDesk({
    settings,
    observers: options,
    guard,
    stopping: stopping.signal,
    // The guard that is chosen by the same option gives what the handler's type says.
    handler: handler as Handler<Partial<TransactionContext>>,
  });
  const consumer = await consumeUpdates({
    redis,
    prefix: settings.prefix,
    name,
    concurrency: settings.concurrency,
    lockDurationMs: settings.leaseMs,
    process: async (job) => desk.process(job),
    onError: (error) => desk.report(error),
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
 *
 * @throws {InvalidOptionError} when the name or the prefix is outside its limits.
 * @throws {QueueUnavailableError} when Redis did not answer within a minute; doing it again goes on from there.
 */
export async function forgetOrderUpdates(options: {
  readonly redis: RedisAddress;
  readonly prefix?: string;
  readonly name: string;
}): Promise<void> {
  checkName(options);
  await unsubscribeUpdates(options);
}

/**
 * How many updates wait for each subscribed name, how many jobs of it hold none, and how many processes serve it; for metrics
 * and alerts.
 *
 * @throws {QueueUnavailableError} when Redis does not answer within five seconds.
 */
export async function readOrderUpdatesBacklog(options: {
  readonly redis: RedisAddress;
  readonly prefix?: string;
}): Promise<UpdateBacklog> {
  return readUpdateBacklog(options);
}

function guardFor(
  { database, redis, name }: Options<{ readonly database?: Database | undefined }>,
  { prefix, gapWaitMs, leaseMs }: Settings,
): Guard<Partial<TransactionContext>> {
  return database === undefined
    ? new GuardInRedis({ redis, prefix: `${prefix}:updates:${name}`, gapWaitMs, leaseMs })
    : new GuardInPostgres({ database, name, gapWaitMs, limitMs: leaseMs });
}
