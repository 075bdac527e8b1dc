import { expect, test } from "vitest";
import { brokenPromises } from "../../apps/bench/src/report/broken-promises.ts";
import type { Machine } from "../../apps/bench/src/results.ts";

const MACHINE: Machine = {
  cores: 2,
  memoryBytes: 1,
  node: "v20.0.0",
  postgres: "18.0",
  redis: "7.0.0",
  system: "Linux",
};

function broken(results: readonly object[]): readonly string[] {
  return brokenPromises({
    workload: "hot",
    events: 1,
    seed: 1,
    rounds: 1,
    machine: MACHINE,
    results,
    ratios: {},
  });
}

test("a run in which Junban lost, doubled or reordered something says so", () => {
  expect(broken([{ name: "junban", inversions: 2, lost: 1, doubled: 0 }])).toEqual([
    "hot: junban broke a promise: inversions 2",
    "hot: junban broke a promise: lost 1",
  ]);
  expect(broken([{ processes: 1, inversions: 0, lost: 0, doubled: 3 }])).toHaveLength(1);
});

test("peers may do as they like, and what was not counted is not held against anybody", () => {
  expect(
    broken([
      { name: "pgboss", inversions: 5 },
      { name: "junban-single", inversions: 0, lost: null },
    ]),
  ).toEqual([]);
});
