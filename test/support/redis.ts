import { randomBytes } from "node:crypto";
import { Redis, type RedisOptions } from "ioredis";
import { afterAll, inject } from "vitest";

/** `replyMapping` decides the type of the client itself, so it is not open here. */
export type ConnectOptions = Omit<RedisOptions, "replyMapping">;

export interface FreshRedis {
  url: string;
  /** No other call gets the same one. Keys that begin with it are deleted after the test file. */
  prefix: string;
  /** A connection that is closed after the test file. `maxRetriesPerRequest` is null, as BullMQ wants it. */
  connect(options?: ConnectOptions): Redis;
}

const prefixes: string[] = [];
const connections: Redis[] = [];

/** A corner of the run's Redis: an address and a key prefix of one's own. */
export function freshRedis(): FreshRedis {
  const url = inject("junban").redisUrl;
  const prefix = `junban-${randomBytes(6).toString("hex")}`;
  prefixes.push(prefix);
  return {
    url,
    prefix,
    connect: (options = {}) => {
      const connection = new Redis(url, { maxRetriesPerRequest: null, ...options });
      connections.push(connection);
      return connection;
    },
  };
}

afterAll(async () => {
  for (const connection of connections.splice(0)) connection.disconnect();
  if (prefixes.length === 0) return;
  const redis = new Redis(inject("junban").redisUrl);
  try {
    for (const prefix of prefixes.splice(0)) {
      for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1_000 })) {
        if (Array.isArray(keys) && keys.length > 0) await redis.unlink(...(keys as string[]));
      }
    }
  } finally {
    redis.disconnect();
  }
});
