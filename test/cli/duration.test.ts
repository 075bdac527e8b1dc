import { expect, test } from "vitest";
import { durationMs } from "../../apps/cli/src/duration.ts";

test("a duration is a number and its unit", () => {
  expect(["90s", "15m", "2h", "1.5h", "400d", "1ms"].map((text) => durationMs(text))).toEqual([
    90_000, 900_000, 7_200_000, 5_400_000, 34_560_000_000, 1,
  ]);
});

test.each(["400", "2", "0h", "-1d", "soon", "", "2 x"])("%j is none: nobody means milliseconds", (text) => {
  expect(() => durationMs(text)).toThrow(/write a number and a unit, such as 60s/u);
});
