import type { Redis } from "ioredis";
import { answeringSettings, openConnection, unavailable, whenReady, within } from "./connection.ts";
import type { RedisAddress } from "./connection.ts";
import { EvictingRedisError } from "./errors.ts";
import { EvictionWatch } from "./eviction-watch.ts";
import type { EvictionWatchOptions } from "./eviction-watch.ts";

/** `may-evict`: it answers, and its memory policy may drop locks, lines and jobs. */
export type RedisFitness = "answers" | "silent" | "may-evict";

/** @throws {EvictingRedisError} unless the policy is `noeviction`, or the server does not tell it. */
export async function refuseEviction(redis: Pick<Redis, "info">): Promise<void> {
  const policy = evictingPolicyIn(await redis.info("memory"));
  if (policy !== null) throw new EvictingRedisError({ policy });
}

/** The memory policy that an answer to INFO names, if it lets Redis drop keys; null also when the answer names none. */
export function evictingPolicyIn(info: string): string | null {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  return policy === undefined || policy === "noeviction" ? null : policy;
}

export interface RedisProbeOptions {
  /** A client given here only lends its address. */
  readonly redis: RedisAddress;
  /** Hears of each change of the memory policy. */
  readonly logger: EvictionWatchOptions["logger"];
  /** Longest wait for an answer, in milliseconds. Default 2,000. */
  readonly timeoutMs?: number;
}

/** A connection that only asks: whether Redis answers, and whether it keeps what it is given. */
export interface RedisProbe {
  /** @throws {EvictingRedisError} when it may evict keys. @throws {QueueUnavailableError} when it does not answer in time. */
  check(): Promise<void>;
  /** The same as a word. Never rejects. */
  fitness(): Promise<RedisFitness>;
  close(): void;
}

/** Connects at once, and from then on tells the logger when the memory policy changes. */
export function openRedisProbe({ redis, logger, timeoutMs = 2_000 }: RedisProbeOptions): RedisProbe {
  const client = openConnection(redis, answeringSettings({ timeoutMs }));
  // Whoever waits for an answer reports what it did not get.
  client.on("error", () => undefined);
  const check = async (): Promise<void> => {
    try {
      await whenReady(client, { withinMs: timeoutMs });
      await within(refuseEviction(client), timeoutMs);
    } catch (thrown) {
      if (thrown instanceof EvictingRedisError) throw thrown;
      const error = unavailable(thrown);
      // Whatever else it owes would be mistaken for the next answer's delay.
      if (error.code === "REDIS_TIMEOUT") client.disconnect(true);
      throw error;
    }
  };
  const watch = new EvictionWatch({ check, logger });
  return {
    check,
    fitness: async () =>
      check().then(
        () => "answers",
        (error: unknown) => (error instanceof EvictingRedisError ? "may-evict" : "silent"),
      ),
    close: () => {
      watch.stop();
      client.disconnect();
    },
  };
}
