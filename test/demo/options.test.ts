import { expect, test, vi } from "vitest";
import { readDemoOptions } from "../../apps/cli/src/demo/options.ts";
import { UsageError } from "../../apps/cli/src/exit.ts";

test("without arguments the demo tells two thousand orders and a burst to two workers", () => {
  expect(readDemoOptions([])).toEqual({
    orders: 2_000,
    burst: 2_000,
    workers: 2,
    seed: 1,
    json: false,
    keep: false,
  });
});

test("every figure can be chosen", () => {
  const args = ["--orders", "60", "--burst", "500", "--workers", "3", "--seed", "0", "--json", "--keep"];
  expect(readDemoOptions(args)).toEqual({
    orders: 60,
    burst: 500,
    workers: 3,
    seed: 0,
    json: true,
    keep: true,
  });
});

test.each([
  ["--orders", "0"],
  ["--orders", "1e3"],
  ["--burst", "-1"],
  ["--workers", "17"],
  ["--seed", "many"],
])("%s %s is refused", (name, value) => {
  expect(() => readDemoOptions([name, value])).toThrow(UsageError);
});

test("an unknown option is refused", () => {
  const silenced = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  expect(() => readDemoOptions(["--frobnicate"])).toThrow("unknown option");
  silenced.mockRestore();
});
