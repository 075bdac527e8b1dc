import { Redis } from "ioredis";

export interface RedisProbe {
  /** Rejects when Redis does not answer within two seconds. */
  fitness(): Promise<"answers" | "may-evict">;
  close(): void;
}

const LIMIT_MS = 2_000;

/** A connection that only asks: whether Redis answers, and whether it keeps what it is given. */
export function openRedisProbe(url: string): RedisProbe {
  const redis = new Redis(url, {
    maxRetriesPerRequest: 0,
    commandTimeout: LIMIT_MS,
    connectTimeout: LIMIT_MS,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
  });
  // Whoever waits for an answer reports what it did not get.
  redis.on("error", () => undefined);
  return {
    fitness: async () => {
      const memory = await redis.info("memory");
      const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
      return policy === undefined || policy === "noeviction" ? "answers" : "may-evict";
    },
    close: () => redis.disconnect(),
  };
}
