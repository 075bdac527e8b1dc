import { setTimeout as pause } from "node:timers/promises";
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
const LANES_AT_ONCE = 100;

/** Waits until queues, lanes and due work are empty. Rejects when that does not come about although time passes. */
export async function untilIdle(
  services: Pick<Services, "queues" | "lanes" | "store">,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  let before = "";
  let movedAtMs = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const left = await leftToDo(services);
    if (left === "") return;
    if (left !== before) movedAtMs = performance.now();
    if (performance.now() - movedAtMs > PATIENCE_MS) throw new NotIdleError({ withinMs: PATIENCE_MS, left });
    before = left;
    await pause(LOOK_EVERY_MS);
  }
}

async function leftToDo(services: Pick<Services, "queues" | "lanes" | "store">): Promise<string> {
  const families = Object.entries(await services.queues().counts());
  const busy = families
    .map(([family, { waiting, prioritized, active, delayed }]) => ({
      family,
      jobs: waiting + prioritized + active + delayed,
    }))
    .filter(({ jobs }) => jobs > 0);
  // Looking through all lanes is worth it only once the queues are empty.
  if (busy.length > 0) return busy.map(({ family, jobs }) => `${jobs} jobs of ${family}`).join(", ");
  const standing = await requestsInLanes(services);
  if (standing > 0) return `${standing} requests in lanes`;
  const due = await services.store().dueHeld({ limit: 1 });
  return due.length > 0 ? `held events of ${due.join(", ")} whose time is up` : "";
}

async function requestsInLanes({ lanes }: Pick<Services, "lanes">): Promise<number> {
  let standing = 0;
  for await (const page of lanes().scan()) {
    for (let start = 0; start < page.length; start += LANES_AT_ONCE) {
      const some = page.slice(start, start + LANES_AT_ONCE);
      const reports = await Promise.all(some.map(async (lcid) => lanes().inspect(lcid)));
      for (const { depth } of reports) standing += depth;
    }
  }
  return standing;
}
