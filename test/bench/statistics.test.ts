import { expect, test } from "vitest";
import { columns } from "../../apps/bench/src/report/columns.ts";
import { median, percentile } from "../../apps/bench/src/rounds/statistics.ts";

test("a median is the value in the middle, or half-way between the two there", () => {
  expect(median([30, 1, 2])).toBe(2);
  expect(median([4, 1, 30, 2])).toBe(3);
  expect(median([7])).toBe(7);
  expect(median([1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY])).toBe(Number.POSITIVE_INFINITY);
  expect(median([])).toBeNaN();
});

test("a percentile is a value that was measured, and so many of a hundred do not exceed it", () => {
  const values = Array.from({ length: 200 }, (_value, index) => 200 - index);
  expect(percentile(values, 50)).toBe(100);
  expect(percentile(values, 99)).toBe(198);
  expect(percentile(values, 100)).toBe(200);
  expect(percentile([3], 1)).toBe(3);
  expect(percentile([], 50)).toBeNaN();
});

test("a table has its names to the left and its figures to the right", () => {
  expect(
    columns([
      ["", "a", "left"],
      ["junban", "1,000", ""],
      ["x", "2", "3"],
    ]),
  ).toEqual(["            a  left", "junban  1,000", "x           2     3"]);
});
