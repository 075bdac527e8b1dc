import { setTimeout as sleep } from "node:timers/promises";

/** Waits for things that end, and at most so long: what has not ended by then is left behind. Never rejects. */
export async function endWithin(ends: readonly Promise<unknown>[], limitMs: number): Promise<void> {
  const given = new AbortController();
  const late = sleep(limitMs, undefined, { signal: given.signal }).catch(() => undefined);
  await Promise.race([Promise.allSettled(ends), late]);
  given.abort();
}
