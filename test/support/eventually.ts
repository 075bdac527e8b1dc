import { setTimeout as sleep } from "node:timers/promises";

export interface EventuallyOptions {
  /** Default 10000. Generous on purpose: a slow machine must not fail a test, only a missing event may. */
  withinMs?: number;
  /** Default 20. */
  everyMs?: number;
}

/**
 * Runs `check` until it neither throws nor answers false, and hands out its answer. When the bound is reached, the last
 * failure is thrown, so the message tells what was still wrong.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = 10_000, everyMs = 20 }: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    let failure: unknown;
    try {
      const answer = await check();
      if (answer !== false) return answer as Exclude<T, false>;
      failure = new Error("the check answered false");
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= deadlineMs) {
      if (failure instanceof Error) failure.message += ` (after waiting ${withinMs} ms)`;
      throw failure;
    }
    await sleep(everyMs);
  }
}
