import { setTimeout as sleep } from "node:timers/promises";
import { DeadlineError } from "./errors.ts";

export interface WaitOptions {
  /** Names the thing in the error. */
  waitedFor: string;
  withinMs: number;
  everyMs?: number;
}

/** Asks `check` again and again until it answers true. Throws DeadlineError when the bound is reached. */
export async function waitUntil(
  check: () => boolean | Promise<boolean>,
  options: WaitOptions,
): Promise<void> {
  const { waitedFor, withinMs, everyMs = 20 } = options;
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    if (await check()) return;
    if (performance.now() >= deadlineMs) throw new DeadlineError({ waitedFor, withinMs });
    await sleep(everyMs);
  }
}

/** The same, but a reached bound is an answer: false. */
export async function happensWithin(
  check: () => boolean | Promise<boolean>,
  withinMs: number,
): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    if (await check()) return true;
    if (performance.now() >= deadlineMs) return false;
    await sleep(20);
  }
}
