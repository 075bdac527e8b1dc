import { expect, test } from "vitest";
import { judge } from "../../packages/order-updates/src/guard.ts";

const at = { last: 4, gapWaitMs: 1_000 };

test("the version that is due goes, however long others have waited for it", () => {
  expect(judge({ ...at, version: 5, waitedMs: null })).toEqual({ kind: "go", gap: null });
  expect(judge({ ...at, version: 5, waitedMs: 60_000 })).toEqual({ kind: "go", gap: null });
});

test("a version that was handled, or passed over, is skipped, and it is told which was the last", () => {
  expect(judge({ ...at, version: 4, waitedMs: null })).toEqual({ kind: "skipped", last: 4 });
  expect(judge({ ...at, version: 1, waitedMs: 60_000 })).toEqual({ kind: "skipped", last: 4 });
});

test("a version ahead of the one that is due waits, and goes with its gap when it has waited long enough", () => {
  expect(judge({ ...at, version: 7, waitedMs: null })).toEqual({ kind: "waiting", missing: 2 });
  expect(judge({ ...at, version: 7, waitedMs: 999 })).toEqual({ kind: "waiting", missing: 2 });
  expect(judge({ ...at, version: 7, waitedMs: 1_000 })).toEqual({
    kind: "go",
    gap: { expected: 5, got: 7 },
  });
});

test("who never lets a version go with a gap waits for ever, and who does not wait goes at once", () => {
  const never = { ...at, gapWaitMs: Number.POSITIVE_INFINITY };
  expect(judge({ ...never, version: 7, waitedMs: 1e12 })).toEqual({ kind: "waiting", missing: 2 });
  expect(judge({ ...at, gapWaitMs: 0, version: 7, waitedMs: null })).toMatchObject({ kind: "go" });
});
