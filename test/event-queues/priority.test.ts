import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { priorityFor } from "../../packages/event-queues/src/index.ts";

describe("the priority of a job", () => {
  test.each([
    [0, 0],
    [1, 0],
    [63, 0],
    [64, 1],
    [127, 1],
    [128, 2],
    [10_000, 8],
  ])("in a lane of depth %i is %i", (depth, priority) => {
    expect(priorityFor(depth)).toBe(priority);
  });

  test("never improves with depth, and stays a priority BullMQ knows", () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000_000 }), fc.nat({ max: 1_000_000 }), (depth, more) => {
        expect(priorityFor(depth + more)).toBeGreaterThanOrEqual(priorityFor(depth));
        expect(priorityFor(depth + more)).toBeLessThan(2 ** 21);
      }),
    );
  });
});
