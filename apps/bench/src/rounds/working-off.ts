import { setTimeout as pause } from "node:timers/promises";
import type { Live } from "./live.ts";

export interface WorkedOff {
  /** Jobs that had not ended when the time was over; 0 when none was left before. */
  readonly left: number;
  /** `performance.now()` of the look that decided. */
  readonly atMs: number;
}

const LOOK_EVERY_MS = 20;

/** Looks until nothing is left, or until the time is over. Throws when all of the contender's processes have ended. */
export async function workedOff(
  { contender, carrier, trees }: Pick<Live, "contender" | "carrier" | "trees">,
  { withinMs, signal }: { withinMs: number; signal: AbortSignal },
): Promise<WorkedOff> {
  const untilMs = performance.now() + withinMs;
  let ended = false;
  const end = Promise.all(trees.map(async (tree) => tree.exited)).then(() => {
    ended = true;
  });
  for (;;) {
    const left = await carrier.left();
    const atMs = performance.now();
    if (left === 0 || atMs >= untilMs) return { left, atMs };
    if (ended) {
      const said = trees.map((tree) => tree.stderr().slice(-2_000)).join("\n");
      throw new Error(`${contender.name} ended with ${left} jobs left\n${said}`);
    }
    await Promise.race([end, pause(LOOK_EVERY_MS, undefined, { signal })]);
  }
}
