import { startSandbox } from "@junban/sandbox";

export interface Servers {
  /** The environment in which tests find them. */
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/** One Postgres and one Redis for all runs, unless the environment names both already: starting them anew costs seconds. */
export async function openServers(env: NodeJS.ProcessEnv): Promise<Servers> {
  if (env["JUNBAN_TEST_DATABASE_URL"] && env["JUNBAN_TEST_REDIS_URL"]) return { env, stop: async () => {} };
  const sandbox = await startSandbox({ postgres: { fast: true }, redis: { appendOnly: false } });
  return {
    env: {
      ...env,
      JUNBAN_TEST_DATABASE_URL: sandbox.postgres.url,
      JUNBAN_TEST_REDIS_URL: sandbox.redis.url,
    },
    stop: () => sandbox.stop(),
  };
}
