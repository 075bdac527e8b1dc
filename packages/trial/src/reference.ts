import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { referenceOf, type ReferenceOrder } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import { ReferenceMissingError } from "./errors.ts";

type ReferenceOrders = ReadonlyMap<string, ReferenceOrder>;

const PROGRAM = fileURLToPath(import.meta.url);

/**
 * What each order must look like after these events, given in publish order. It takes seconds for a hot order, so it is
 * thought out in a process of its own (this very file, run as a program), and the caller stays responsive meanwhile.
 */
export async function thinkReference(
  published: readonly EventEnvelope[],
  { signal }: { signal: AbortSignal },
): Promise<ReferenceOrders> {
  signal.throwIfAborted();
  const thinker = fork(PROGRAM, { execArgv: process.execArgv, serialization: "advanced" });
  const gone = once(thinker, "exit");
  try {
    thinker.send([...published]);
    const answer = once(thinker, "message", { signal }) as Promise<[ReferenceOrders]>;
    const nothing = gone.then(() => Promise.reject(new ReferenceMissingError()));
    const [orders] = await Promise.race([answer, nothing]);
    return orders;
  } finally {
    thinker.kill("SIGKILL");
    await gone;
  }
}

if (process.argv[1] === PROGRAM) {
  process.once("message", (published: EventEnvelope[]) => {
    process.send?.(referenceOf(published));
  });
}
