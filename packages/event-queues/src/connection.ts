import { Redis } from "ioredis";
import type { RedisOptions } from "ioredis";
import { QueueUnavailableError } from "./errors.ts";

/** Where Redis is: a URL, ioredis options, or a client. */
export type RedisAddress = string | RedisOptions | Redis;

const LONGEST_RECONNECT_DELAY_MS = 1_000;

/** Opens a connection to the given address; a client given as address is copied, never used itself. */
export function openConnection(address: RedisAddress, settings: RedisOptions): Redis {
  // BullMQ reads replies in this form only.
  const wanted = { ...settings, replyMapping: "legacy" as const };
  if (typeof address === "string") return new Redis(address, wanted);
  return isClient(address) ? address.duplicate(wanted) : new Redis({ ...address, ...wanted });
}

export function isClient(address: RedisAddress): address is Redis {
  return typeof address === "object" && "duplicate" in address && typeof address.duplicate === "function";
}

/** Soon enough that consumption resumes within a second of Redis coming back, rare enough to be no load while it is away. */
function reconnectDelayMs(attempt: number): number {
  return Math.min(attempt * 50, LONGEST_RECONNECT_DELAY_MS);
}

/**
 * For a connection that answers a caller who waits: what cannot be sent at once fails at once, and nothing is sent again
 * behind the caller's back.
 */
export function answeringSettings({ timeoutMs }: { readonly timeoutMs: number }): RedisOptions {
  return {
    lazyConnect: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: timeoutMs,
    retryStrategy: reconnectDelayMs,
    reconnectOnError: reconnectWhenReadOnly,
  };
}

/** For a connection that lasts through outages: commands wait for the next connection and are sent again. */
export function lastingSettings(): RedisOptions {
  return {
    lazyConnect: false,
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    retryStrategy: reconnectDelayMs,
    // The refused command is not sent again: a server that stays read-only would be asked in a tight loop.
    reconnectOnError: reconnectWhenReadOnly,
  };
}

/** After a failover the old connection may lead to a replica; only a new connection finds the new primary. */
function reconnectWhenReadOnly(error: Error): boolean {
  return error.message.startsWith("READONLY");
}

/** Waits for a connection that is being made; refuses at once when none is, or when this one fails. */
export async function whenReady(redis: Redis, { withinMs }: { readonly withinMs: number }): Promise<void> {
  await connected(redis, withinMs);
  // ioredis goes on in database 0 when the server does not have the one it was asked for.
  const { db = 0 } = redis.options;
  if (db === 0) return;
  try {
    await within(redis.select(db), withinMs);
  } catch (error) {
    throw unavailable(error);
  }
}

async function connected(redis: Redis, withinMs: number): Promise<void> {
  if (redis.status === "ready") return;
  if (redis.status !== "connecting" && redis.status !== "connect") throw awayError();
  await new Promise<void>((resolve, reject) => {
    let cause: Error | undefined;
    const finish = (error?: QueueUnavailableError): void => {
      clearTimeout(timer);
      redis.off("ready", onReady).off("error", onError).off("close", onClose);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onReady = (): void => finish();
    const onError = (error: Error): void => {
      cause = error;
    };
    const onClose = (): void => finish(awayError(cause));
    const timer = setTimeout(() => finish(timeoutError(withinMs)), withinMs);
    redis.on("ready", onReady).on("error", onError).on("close", onClose);
  });
}

export function awayError(cause?: unknown): QueueUnavailableError {
  return new QueueUnavailableError({
    code: "REDIS_AWAY",
    detail: `Redis is out of reach, or takes no writes${cause instanceof Error && cause.message !== "" ? ` (${cause.message})` : ""}`,
    cause,
  });
}

export function timeoutError(limitMs: number): QueueUnavailableError {
  return new QueueUnavailableError({
    code: "REDIS_TIMEOUT",
    detail: `Redis did not answer within ${limitMs} ms`,
  });
}

/** Redis before 7 says what stopped a script behind words of its own. */
const FULL = /(?:^|[\s-])OOM command not allowed/;

/** Answers of a server that is there and cannot take writes at present. */
const NOT_SERVING = /(?:^|[\s-])(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|BUSY) /;

/** Messages by which ioredis says that a command met no connection. It has no codes for them. */
const AWAY =
  /Connection is closed|isn't writeable|max retries per request|Command aborted|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|Socket timeout/i;

/** Translates whatever a Redis command failed with. */
export function unavailable(thrown: unknown): QueueUnavailableError {
  if (thrown instanceof QueueUnavailableError) return thrown;
  const error = reasonOf(thrown);
  // ioredis hangs the command with all that was being written on its errors, and this one ends in somebody's log.
  if (error instanceof Error) Reflect.deleteProperty(error, "command");
  const message = error instanceof Error ? error.message : String(error);
  if (FULL.test(message)) {
    return new QueueUnavailableError({
      code: "REDIS_OUT_OF_MEMORY",
      detail: "Redis has reached its memory limit",
      cause: error,
    });
  }
  if (AWAY.test(message) || NOT_SERVING.test(message)) return awayError(error);
  return new QueueUnavailableError({
    code: "REDIS_REFUSED",
    detail: `Redis answered with an error (${message})`,
    cause: error,
  });
}

/** A transaction that was given up says why beside its own message, where ioredis puts what was refused of it. */
function reasonOf(error: unknown): unknown {
  const refusals: unknown = error instanceof Error ? Reflect.get(error, "previousErrors") : undefined;
  return Array.isArray(refusals) && refusals[0] instanceof Error ? refusals[0] : error;
}

/** Whether the server answered, and that it does not answer this: a command it does not know, or forbids. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && /^(?:NOPERM|ERR) /.test(error.message);
}

/** Whether Redis is lost altogether, and not only unwilling. */
export function isOutage({ code }: QueueUnavailableError): boolean {
  return code === "REDIS_AWAY" || code === "REDIS_TIMEOUT";
}

/** Settles with the work, or rejects with code REDIS_TIMEOUT when that takes too long. */
export async function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(timeoutError(limitMs)), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
