import { describe, expect, test } from "vitest";
import { drawFacts, drawTable, drawText } from "../../apps/cli/src/table.ts";

const HEAD = ["order", { cuttable: "detail" }, "n", "decided"];
const ROWS = [
  ["A-1", "it was refused because nobody had expected that to come", 1, new Date(1)],
  ["B-22", "short", null, null],
] as const;

describe("a table", () => {
  test("is whole where there is no terminal, in columns that line up", () => {
    expect(drawTable(HEAD, ROWS, { width: null }).split("\n")).toEqual([
      "order  detail                                                   n  decided",
      "A-1    it was refused because nobody had expected that to come  1  1970-01-01T00:00:00.001Z",
      "B-22   short                                                    –  –",
    ]);
  });

  test("fits the terminal: what may be cut is cut, and says so; times are shorter", () => {
    const lines = drawTable(HEAD, ROWS, { width: 50 }).split("\n");
    expect(lines[1]).toBe("A-1    it was refused be…  1  1970-01-01T00:00:00Z");
  });

  test("leaves out on a terminal, and only there, what has no value in any row", () => {
    const rows = [["A-1", null]];
    expect(drawTable(["order", "alert"], rows, { width: 80 })).toBe("order\nA-1");
    expect(drawTable(["order", "alert"], rows, { width: null })).toBe("order  alert\nA-1    –");
  });

  test.each([1, 20, 40, 79])(
    "never cuts what people copy: at %i columns each row is a paragraph",
    (width) => {
      const head = ["order", "source", "id", { cuttable: "detail" }];
      const names = ["order-of-2026-11-30-1", "/payments/eu-west-1", "0c1f3a52-6a6b-4f0e-a1a5-0d1e8f1d8b9c"];
      const text = drawTable(head, [[...names, "why"], names], { width });
      const [order, source, id] = names;
      expect(text.split(/  +|\n +|\n/u)).toEqual([
        `order: ${order}`,
        `source: ${source}`,
        `id: ${id}`,
        "detail: why",
        `order: ${order}`,
        `source: ${source}`,
        `id: ${id}`,
      ]);
    },
  );

  test("begins a new line in a paragraph where a value does not fit", () => {
    expect(drawTable(["order", "source", "id"], [["A-1", "/payments", "e-1"]], { width: 19 })).toBe(
      "order: A-1\n  source: /payments\n  id: e-1",
    );
  });

  test("measures letters as a terminal shows them", () => {
    const rows = [["茶碗茶碗茶碗茶碗茶碗", "x"]];
    expect(drawTable([{ cuttable: "sku" }, "n"], rows, { width: 16 }).split("\n")).toEqual([
      "sku            n",
      "茶碗茶碗茶碗…  x",
    ]);
  });

  test("escapes what would move the cursor", () => {
    expect(drawTable(["a"], [["\u001b[2J"]], { width: null })).not.toContain("\u001b");
  });
});

test("a sentence is broken between words, each line behind its indent", () => {
  expect(drawText("one two three four", { indent: "  ", width: 11 })).toBe("  one two\n  three\n  four");
  expect(drawText("one two three four", { indent: "  ", width: null })).toBe("  one two three four");
});

test("a fact that is wider than the terminal goes on below itself", () => {
  const facts = [
    ["orders", "12 (4 open, 8 shipped)"],
    ["held", null],
  ] as const;
  expect(drawFacts(facts, { width: 20 })).toBe("orders  12 (4 open,\n        8 shipped)\nheld    –");
  expect(drawFacts(facts, { width: null })).toBe("orders  12 (4 open, 8 shipped)\nheld    –");
});
