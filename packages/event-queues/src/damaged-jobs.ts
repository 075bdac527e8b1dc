import type { QueueKeys } from "bullmq";
import type { Redis } from "ioredis";

/** How BullMQ's scripts begin to say that they stumbled over what is stored, and not over the state of the server. */
const STUMBLED = /^(ERR|WRONGTYPE) /;
const COUNTERS = ["ats", "atm", "stc"] as const;

export function stumbled(error: unknown): boolean {
  return error instanceof Error && STUMBLED.test(error.message);
}

/**
 * Fields of a job's record over which BullMQ's scripts would stumble, some of them only after they have taken the job out of
 * every list: counters that are no numbers, a parent that is none.
 */
export function unsoundFields(record: Readonly<Record<string, string>>): string[] {
  const { parent, parentKey } = record;
  const unsound: string[] = COUNTERS.filter((name) => !/^\d{1,15}$/.test(record[name] ?? "0"));
  const hasNone = parent === undefined && parentKey === undefined;
  if (!hasNone && (parentKey === undefined || keyOfParent(parent) !== parentKey)) {
    unsound.push("parent", "parentKey");
  }
  return unsound;
}

/**
 * Mends the jobs that were just fetched, one of which cannot even be handed out: unsound fields go, and a record that is no
 * hash becomes a job without data. Mended, it comes again when its lock lapses, and ends like any other; as it was, it would
 * come again for ever and hold up the fetching each time.
 */
export async function mendDamagedJobs(
  redis: Redis,
  keysOfQueue: ReturnType<QueueKeys["getKeys"]>,
): Promise<void> {
  const { active = "", "": prefix = "" } = keysOfQueue;
  for (const id of await redis.lrange(active, 0, -1)) {
    const key = `${prefix}${id}`;
    const type = await redis.type(key);
    if (type === "hash") {
      const unsound = unsoundFields(await redis.hgetall(key));
      if (unsound.length > 0) await redis.hdel(key, ...unsound);
    } else if (type !== "none") {
      await redis.multi().del(key).hset(key, "data", "").exec();
    }
  }
}

/** Undefined when the text names no parent. */
function keyOfParent(text: string | undefined): string | undefined {
  try {
    const { id, queueKey } = JSON.parse(text ?? "") as { id?: unknown; queueKey?: unknown };
    return typeof id === "string" && typeof queueKey === "string" ? `${queueKey}:${id}` : undefined;
  } catch {
    return undefined;
  }
}
