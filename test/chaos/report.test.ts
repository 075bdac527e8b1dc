import { expect, test } from "vitest";
import { jsonOf, tableOf } from "../../apps/chaos/src/report.ts";
import { hasPassed, type RunReport } from "../../apps/chaos/src/run.ts";

const GOOD: RunReport = {
  fault: "kill-worker",
  seed: 7,
  published: 1_000,
  applied: 900,
  lost: 0,
  doubleApplied: 0,
  inversions: 0,
  drift: 0,
  faultsInjected: 3,
  recoveredMs: 2_100,
  boundMs: 4_000,
  orderPromised: true,
  wrong: [],
  late: [],
};

test("a run in which every figure is as promised has passed", () => {
  expect(hasPassed(GOOD)).toBe(true);
  expect(jsonOf(GOOD)).toMatchObject({ fault: "kill-worker", seed: 7, recoveredMs: 2_100, passed: true });
  expect(tableOf([GOOD])[1]).toMatch(/2\.1 s +4\.0 s +ok$/u);
});

test.each<[string, Partial<RunReport>]>([
  ["something is lost", { lost: 1 }],
  ["something is applied twice", { doubleApplied: 1 }],
  ["something is out of order", { inversions: 1 }],
  ["something differs from its history", { drift: 1 }],
  ["the fleet never recovers", { recoveredMs: null }],
  ["a recovery is late", { late: ["late"] }],
  ["something else went wrong", { wrong: ["wrong"] }],
])("a run in which %s has not passed, whatever the sentences say", (_, change) => {
  const report = { ...GOOD, ...change };
  expect(hasPassed(report)).toBe(false);
  expect(jsonOf(report)).toMatchObject({ passed: false });
  expect(tableOf([report])[1]).toMatch(/FAILED$/u);
});

test("where the line itself is lost, inversions are counted and nothing more", () => {
  const report = { ...GOOD, inversions: 4, orderPromised: false };
  expect(hasPassed(report)).toBe(true);
  expect(tableOf([report])[1]).toContain("(4)");
});
