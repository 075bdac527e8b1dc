import { describe, expect, test } from "vitest";
import { localPath } from "../../apps/console/src/fields.ts";
import { html } from "../../apps/console/src/html.ts";
import { Rates } from "../../apps/console/src/rates.ts";
import { amount, duration, until } from "../../apps/console/src/words.ts";

test("an amount is written with its currency's digits, and its thousands apart", () => {
  const written = [
    amount(1_234_567, "JPY"),
    amount(1_234_567, "EUR"),
    amount(5, "EUR"),
    amount(1_234_567, "KWD"),
    amount(-1_050, "EUR"),
    amount(1_000_000_000_000, "JPY"),
    amount(0, null),
  ];
  expect(written).toEqual([
    "1,234,567",
    "12,345.67",
    "0.05",
    "1,234.567",
    "−10.50",
    "1,000,000,000,000",
    "0",
  ]);
});

test("a while is written in one unit", () => {
  const written = [0, 12, 999, 1_500, 42_000, 90_000, 7_200_000, 259_200_000].map((ms) => duration(ms));
  expect(written).toEqual(["0 ms", "12 ms", "999 ms", "1.5 s", "42 s", "1.5 min", "2.0 h", "3.0 d"]);
  expect(until(new Date(60_000), 0)).toBe("in 1.0 min");
  expect(until(new Date(0), 60_000)).toBe("overdue by 1.0 min");
});

describe("a piece of a page", () => {
  test("has values as text, in attributes and between tags, and pieces as they are", () => {
    const hostile = `"'<b>&`;
    const piece = html`<i title="${hostile}">${hostile}</i>`;
    expect(html`<p>${piece}${[hostile, 1]}${null}${false}</p>`.toString()).toBe(
      `<p><i title="&quot;&#39;&lt;b&gt;&amp;">&quot;&#39;&lt;b&gt;&amp;</i>&quot;&#39;&lt;b&gt;&amp;1</p>`,
    );
  });
});

test("an address that somebody sends along leads nowhere but into the console", () => {
  for (const foreign of [
    "//evil",
    "/\\evil",
    "/a\\b",
    "https://evil",
    "javascript:alert(1)",
    "",
    "/a b",
    null,
  ]) {
    expect(localPath(foreign)).toBe("/");
  }
  expect(localPath("/order?lcid=A%2F1")).toBe("/order?lcid=A%2F1");
});

describe("rates", () => {
  const glance = (atMs: number, decided: number, applied: number) => ({
    atMs,
    queues: { kind: "unknown", error: new Error("not asked") } as const,
    lanes: { kind: "unknown", error: new Error("not asked") } as const,
    store: {
      kind: "known",
      value: {
        decided,
        applied,
        latest: null,
        held: 0,
        heldDueSoon: 0,
        overCaptures: 0,
        cancelledShipments: 0,
        halted: 0,
        failed: 0,
        alerts: 0,
        outboxUnpublished: 0,
        outboxLagMs: 0,
        outboxParked: 0,
      },
    } as const,
  });

  test("come from counts over time, of the last ten seconds", () => {
    const rates = new Rates();
    expect(rates.after(glance(0, 100, 50)).appliedPerSecond).toBeNull();
    expect(rates.after(glance(2_000, 300, 150))).toMatchObject({
      decidedPerSecond: 100,
      appliedPerSecond: 50,
    });
    for (let second = 4; second <= 20; second += 2) rates.after(glance(second * 1_000, 300, 150));
    const still = rates.after(glance(22_000, 300, 150));
    expect(still.appliedPerSecond).toBe(0);
    expect(still.lately[0]).toBe(50);
  });

  test("begin anew after a gap, and with another database", () => {
    const rates = new Rates();
    rates.after(glance(0, 100, 50));
    expect(rates.after(glance(100_000, 900, 900)).decidedPerSecond).toBeNull();
    expect(rates.after(glance(102_000, 5, 5)).decidedPerSecond).toBeNull();
  });
});
