import { setTimeout as pause } from "node:timers/promises";
import { isIdle, readBacklog } from "@junban/operations";
import { describeBacklog } from "../backlog.ts";
import type { Services } from "../services.ts";

/** Thrown when something is left to do and nothing moves any more. */
class NotIdleError extends Error {
  readonly code = "NOT_IDLE";

  constructor({ withinMs, left }: { withinMs: number; left: string }) {
    super(`nothing has moved for ${withinMs / 1_000} s, and this is left: ${left}`);
    this.name = "NotIdleError";
  }
}

const LOOK_EVERY_MS = 100;
const PATIENCE_MS = 60_000;

/** Waits until queues, lanes and due work are empty. Rejects when that does not come about although time passes. */
export async function untilIdle(
  services: Pick<Services, "fleet">,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  let before = "";
  let movedAtMs = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const backlog = await readBacklog(services.fleet());
    if (isIdle(backlog)) return;
    const left = describeBacklog(backlog);
    if (left !== before) movedAtMs = performance.now();
    if (performance.now() - movedAtMs > PATIENCE_MS) throw new NotIdleError({ withinMs: PATIENCE_MS, left });
    before = left;
    await pause(LOOK_EVERY_MS);
  }
}
