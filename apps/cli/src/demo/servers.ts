import { randomBytes } from "node:crypto";
import { createGuestDatabase, startPostgres, startRedis } from "@junban/sandbox";
import { Redis } from "ioredis";

/** What a process of the fleet, or a person's command, needs to reach the demo's servers. */
export interface Servers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly prefix: string;
}

export interface ServersOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
  /** What has to be undone at the end, in the order in which it was done. Grows as soon as something was done. */
  readonly closings: (() => Promise<unknown>)[];
}

const OWN_REDIS_PREFIX = "junban";

/**
 * Throwaway servers, or a database and a key prefix of our own on the servers named for tests. Never on DATABASE_URL or
 * REDIS_URL: those may be where real orders live.
 */
export async function startServers(options: ServersOptions): Promise<Servers> {
  const { env, say } = options;
  say("starting Postgres and Redis, which are thrown away afterwards");
  const starting = [
    openPostgres(options, env["JUNBAN_TEST_DATABASE_URL"]),
    openRedis(options, env["JUNBAN_TEST_REDIS_URL"]),
  ] as const;
  // Both are waited for even when one fails, so that everything that was started is known.
  await Promise.allSettled(starting);
  const [databaseUrl, redis] = await Promise.all(starting);
  return { databaseUrl, ...redis };
}

async function openPostgres({ say, closings }: ServersOptions, given: string | undefined): Promise<string> {
  if (isGiven(given)) {
    const database = await createGuestDatabase(given);
    closings.push(async () => database.drop());
    say("Postgres: a database of its own on the server in JUNBAN_TEST_DATABASE_URL");
    return database.url;
  }
  const server = await startPostgres();
  closings.push(async () => server.stop());
  say(`Postgres listens on port ${server.port} (pid ${server.pid})`);
  return server.createDatabase();
}

async function openRedis(
  { say, closings }: ServersOptions,
  given: string | undefined,
): Promise<{ redisUrl: string; prefix: string }> {
  if (isGiven(given)) {
    const prefix = `junban-demo-${randomBytes(4).toString("hex")}`;
    closings.push(async () => deleteKeys(given, prefix));
    say(`Redis: keys ${prefix}* on the server in JUNBAN_TEST_REDIS_URL`);
    return { redisUrl: given, prefix };
  }
  const server = await startRedis({ appendOnly: true });
  closings.push(async () => server.stop());
  say(`Redis listens on port ${server.port} (pid ${server.pid}, append-only file)`);
  return { redisUrl: server.url, prefix: OWN_REDIS_PREFIX };
}

function isGiven(address: string | undefined): address is string {
  return address !== undefined && address !== "";
}

async function deleteKeys(redisUrl: string, prefix: string): Promise<void> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: 1 });
  redis.on("error", () => undefined);
  try {
    for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
      const found = keys as string[];
      if (found.length > 0) await redis.unlink(...found);
    }
  } finally {
    redis.disconnect();
  }
}
