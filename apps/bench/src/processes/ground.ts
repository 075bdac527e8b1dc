import type { Ground } from "../contenders/contender.ts";

/** The ground as a contender's process finds it in its environment. */
export function groundOf(env: NodeJS.ProcessEnv): Ground {
  return {
    databaseUrl: valueOf(env, "DATABASE_URL"),
    redisUrl: valueOf(env, "REDIS_URL"),
    prefix: valueOf(env, "JUNBAN_PREFIX"),
    concurrency: Number(valueOf(env, "BENCH_CONCURRENCY")),
    poolSize: Number(valueOf(env, "JUNBAN_PG_POOL")),
  };
}

function valueOf(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (value === undefined) throw new TypeError(`${name} is not set; the bench sets it`);
  return value;
}
