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

describe("text on a page", () => {
  test("shows what hides or turns its neighbours round, and is sent back by a form as it is", () => {
    const hostile = "a\u202eb\u200bc\u0007";
    expect(html`<i>${hostile}</i>`.toString()).toBe("<i>a\\u202eb\\u200bc\\u0007</i>");
    expect(html`<input value="${hostile}" />`.toString()).toBe(`<input value="${hostile}" />`);
    expect(html`<pre>${"{\n}"}</pre>`.toString()).toBe("<pre>{\n}</pre>");
  });

  test("that runs from right to left keeps to itself, except in a title, where no element may stand", () => {
    const hebrew = "\u05d0\u05d1";
    expect(html`<p>replay ${hebrew}. 5</p>`.toString()).toBe(`<p>replay <bdi>${hebrew}</bdi>. 5</p>`);
    expect(html`<title>${hebrew}</title>`.toString()).toBe(`<title>${hebrew}</title>`);
    expect(html`<p>→ é 順番</p>`.toString()).not.toContain("bdi");
  });
});

test("an address that somebody sends along leads nowhere but into the console", () => {
  for (const foreign of [
    "//evil",
    "/\\evil",
    "/a\\b",
    "https://evil",
    "/..//evil",
    "/.//evil",
    "/x/..//evil",
    "/%2e%2e//evil",
    "/%2E//evil",
    "/..//evil:99999",
    "//",
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
  const glance = (atMs: number, newest: number, since: { decided: number; applied: number } | null) => ({
    atMs,
    queues: { kind: "unknown", error: new Error("not asked") } as const,
    lanes: { kind: "unknown", error: new Error("not asked") } as const,
    store: {
      kind: "known",
      value: {
        newest,
        since,
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
  /** Looks once, and counts from the mark that the rates ask for. */
  const look = (rates: Rates, atMs: number, newest: number, since = { decided: 0, applied: 0 }) => {
    const mark = rates.markAt(atMs);
    return rates.after(glance(atMs, newest, mark === null ? null : since), mark);
  };

  test("come from what was committed in the last ten seconds, whatever numbers were given out", () => {
    const rates = new Rates();
    expect(look(rates, 0, 100).appliedPerSecond).toBeNull();
    expect(look(rates, 2_000, 300, { decided: 200, applied: 100 })).toMatchObject({
      decidedPerSecond: 100,
      appliedPerSecond: 50,
    });
    for (let second = 4; second <= 20; second += 2) look(rates, second * 1_000, 300 + second);
    // Numbers rise with every try that is undone.
    const still = look(rates, 22_000, 400);
    expect([still.decidedPerSecond, still.appliedPerSecond, still.lately[0]]).toEqual([0, 0, 50]);
    expect(rates.markAt(24_000)).toEqual({ atMs: 14_000, newest: 314 });
  });

  test("begin anew after a gap, and with another database", () => {
    const rates = new Rates();
    look(rates, 0, 100);
    expect(look(rates, 100_000, 900, { decided: 9, applied: 9 }).decidedPerSecond).toBeNull();
    expect(look(rates, 102_000, 5, { decided: 9, applied: 9 }).decidedPerSecond).toBeNull();
    expect(look(rates, 104_000, 15, { decided: 10, applied: 8 }).decidedPerSecond).toBe(5);
  });
});
