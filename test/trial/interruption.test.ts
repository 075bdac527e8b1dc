import { InterruptedError, unlessAborted } from "@junban/trial";
import { expect, test } from "vitest";

test("whoever comes after the interruption gets it, and nobody has to hear how the work failed later", async () => {
  const unhandled: unknown[] = [];
  const hear = (reason: unknown): void => {
    unhandled.push(reason);
  };
  process.on("unhandledRejection", hear);
  try {
    const interrupted = new InterruptedError("SIGINT");
    const work = new Promise<never>((_, reject) => {
      setImmediate(() => reject(new Error("its process ended")));
    });
    await expect(unlessAborted(work, AbortSignal.abort(interrupted))).rejects.toBe(interrupted);
    // Node tells of it once the turn of the event loop is over in which it happened.
    for (let turns = 0; turns < 3; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", hear);
  }
});
