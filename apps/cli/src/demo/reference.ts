import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { referenceOf, tellStories, type ReferenceOrder, type StoriesOptions } from "@junban/order-stories";

/** What was published: the told stream by its seed, and its positions in publish order. */
export interface PublishedOrder {
  readonly stories: StoriesOptions;
  readonly positions: readonly number[];
}

type ReferenceOrders = ReadonlyMap<string, ReferenceOrder>;

const PROGRAM = fileURLToPath(import.meta.url);

/** Thrown when the process that thinks the reference out ends without an answer. */
class ReferenceMissingError extends Error {
  readonly code = "REFERENCE_MISSING";

  constructor() {
    super("the process that folds the published events ended without an answer");
    this.name = "ReferenceMissingError";
  }
}

/**
 * What each order must look like after what was published. It takes seconds for a hot order, so it is thought out in a process
 * of its own (this very file, run as a program), and the terminal stays alive meanwhile.
 */
export async function thinkReference(
  published: PublishedOrder,
  { signal }: { signal: AbortSignal },
): Promise<ReferenceOrders> {
  signal.throwIfAborted();
  const thinker = fork(PROGRAM, { execArgv: process.execArgv, serialization: "advanced" });
  const gone = once(thinker, "exit");
  try {
    thinker.send(published);
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
  process.once("message", ({ stories, positions }: PublishedOrder) => {
    const stream = tellStories(stories);
    process.send?.(referenceOf(positions.flatMap((position) => stream[position]?.event ?? [])));
  });
}
