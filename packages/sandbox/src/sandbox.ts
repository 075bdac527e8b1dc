import { type PostgresOptions, type PostgresServer, startPostgres } from "./postgres.ts";
import { type RedisOptions, type RedisServer, startRedis } from "./redis.ts";

export interface Sandbox {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  /** Ends both for good. May be called twice. */
  stop(): Promise<void>;
}

/** Starts both servers; when one of them cannot start, the other is ended before the error is thrown. */
export async function startSandbox(
  options: { postgres?: PostgresOptions; redis?: RedisOptions } = {},
): Promise<Sandbox> {
  const [postgres, redis] = await Promise.allSettled([
    startPostgres(options.postgres),
    startRedis(options.redis),
  ]);
  if (postgres.status === "rejected" || redis.status === "rejected") {
    for (const server of [postgres, redis]) if (server.status === "fulfilled") await server.value.stop();
    throw postgres.status === "rejected" ? postgres.reason : (redis as PromiseRejectedResult).reason;
  }
  return {
    postgres: postgres.value,
    redis: redis.value,
    stop: async () => {
      await Promise.all([postgres.value.stop(), redis.value.stop()]);
    },
  };
}
