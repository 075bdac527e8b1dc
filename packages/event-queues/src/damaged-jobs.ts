import type { QueueKeys } from "bullmq";
import type { Redis } from "ioredis";

/** How BullMQ's scripts begin to say that they stumbled over what is stored, and not over the state of the server. */
const STUMBLED = /^(ERR|WRONGTYPE) /;
const COUNTERS = ["ats", "stc"] as const;

export function stumbled(error: unknown): boolean {
  return error instanceof Error && STUMBLED.test(error.message);
}

/**
 * Mends what makes BullMQ's scripts stumble over a job that was just fetched: counters that are no numbers, a parent that is
 * not JSON, a record that is no hash (which becomes a job without data). Mended, it comes again when its lock lapses, and is
 * ended like any other; as it was, it would come again for ever and hold up the fetching each time.
 */
export async function mendDamagedJobs(
  redis: Redis,
  keysOfQueue: ReturnType<QueueKeys["getKeys"]>,
): Promise<void> {
  const { active = "", "": prefix = "" } = keysOfQueue;
  for (const id of await redis.lrange(active, 0, -1)) {
    const key = `${prefix}${id}`;
    const type = await redis.type(key);
    if (type === "hash") await mendFields(redis, key);
    else if (type !== "none") await redis.multi().del(key).hset(key, "data", "").exec();
  }
}

async function mendFields(redis: Redis, key: string): Promise<void> {
  const [parent, ...counts] = await redis.hmget(key, "parent", ...COUNTERS);
  const damaged: string[] = COUNTERS.filter((_name, index) => !/^\d{1,15}$/.test(counts[index] ?? "0"));
  if (!isJsonObject(parent ?? "{}")) damaged.push("parent", "parentKey");
  if (damaged.length > 0) await redis.hdel(key, ...damaged);
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
