import { expect, test } from "vitest";
import { barOf, curveOf } from "../../apps/cli/src/demo/bars.ts";
import { drawFrame } from "../../apps/cli/src/demo/frame.ts";
import { wrapped, type Line } from "../../apps/cli/src/demo/paint.ts";
import type { Scene } from "../../apps/cli/src/demo/scene.ts";

const start: Scene = {
  doing: "publishing",
  elapsedMs: 0,
  orders: 2_001,
  published: 0,
  toPublish: 24_761,
  toDecide: 22_285,
  reading: null,
  rates: [],
  hotLcid: "A-HOT",
  crew: [],
};

const middle: Scene = {
  ...start,
  elapsedMs: 83_400,
  published: 16_120,
  reading: {
    summary: {
      ordersByStatus: { placed: 812, confirmed: 402, completed: 1, in_fulfilment: 40 },
      eventsByOutcome: { applied: 9_000, rejected: 34, deferred: 12 },
      held: 12,
      heldDueSoon: 0,
      halted: 0,
      failed: 0,
      alerts: 0,
      overCaptures: 0,
      cancelledShipments: 0,
      outboxUnpublished: 9_000,
      outboxLagMs: 12,
      outboxParked: 0,
    },
    decided: 9_046,
    lane: {
      lcid: "A-HOT",
      depth: 1_204,
      holder: "x",
      leaseLeftMs: 2_340,
      seats: 3,
      outcomes: 0,
      tries: 1,
      headKey: "k",
      consistent: true,
    },
  },
  rates: [0, 100, 1_000, 2_000, 1_812],
  crew: [
    { number: 1, pid: 4_194_301, state: "at work" },
    { number: 2, pid: 4_194_302, state: "killed" },
    { number: 3, pid: 4_194_303, state: "at work" },
  ],
};

function textOf(lines: readonly Line[]): readonly string[] {
  return lines.map((line) => line.map(({ text }) => text).join(""));
}

test.each([20, 40, 44, 60, 80, 100, 200])(
  "no line of a frame is broken in a terminal of %i columns",
  (columns) => {
    for (const scene of [start, middle]) {
      for (const line of textOf(drawFrame(scene, { columns, rows: 24 }))) {
        expect(line.length).toBeLessThan(columns);
      }
    }
  },
);

test("every frame has the same height, which leaves room in a terminal of 24 rows", () => {
  const heights = [start, middle].map((scene) => drawFrame(scene, { columns: 80, rows: 24 }).length);
  expect(new Set(heights).size).toBe(1);
  expect(heights[0]).toBeLessThanOrEqual(20);
});

test("a low terminal gets a frame that fits", () => {
  expect(drawFrame(middle, { columns: 80, rows: 12 }).length).toBeLessThan(12);
});

test("a frame says what is going on", () => {
  const text = textOf(drawFrame(middle, { columns: 80, rows: 24 })).join("\n");
  expect(text).toContain("16,120 of 24,761");
  expect(text).toContain("9,046 of 22,285");
  expect(text).toContain("1,812 events/s");
  expect(text).toContain("1,204 in line for order A-HOT; held, 2.3 s of the lease left");
  expect(text).toMatch(/placed +█+.? +812$/mu);
  expect(text).toContain("● 1 pid 4194301");
  expect(text).toContain("✕ 2 killed");
  expect(text).toContain("1:23  publishing");
});

test("a bar has its length in cells, and shows the smallest share as a sliver", () => {
  for (const share of [0, 0.0001, 0.3, 0.5, 0.999, 1, 2]) {
    const { filled, empty } = barOf(share, 20);
    expect(filled.length + empty.length).toBe(20);
  }
  expect(barOf(0, 10)).toEqual({ filled: "", empty: "░░░░░░░░░░" });
  expect(barOf(0.0001, 10).filled).toBe("▏");
  expect(barOf(1, 10).filled).toBe("██████████");
  expect(barOf(0.55, 10).filled).toBe("█████▌");
});

test("a curve shows the latest values against the highest", () => {
  expect(curveOf([], 5)).toBe("");
  expect(curveOf([0, 0], 5)).toBe("▁▁");
  expect(curveOf([9_999, 0, 50, 100], 3)).toBe("▁▅█");
});

test("text is broken between words, and a long word stays whole", () => {
  expect(wrapped("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrapped("a incomprehensible b", 5)).toEqual(["a", "incomprehensible", "b"]);
  expect(wrapped("", 5)).toEqual([""]);
});
