import { describe, expect, test } from "vitest";
import { drawFacts, drawTable, drawText } from "../../apps/cli/src/table.ts";

const HEAD = ["order", "reason", "n"];
const ROWS = [
  ["A-1", "it was refused because nobody had expected that to come", 1],
  ["B-22", "short", null],
] as const;

describe("a table", () => {
  test("is whole where there is no terminal, in columns that line up", () => {
    expect(drawTable(HEAD, ROWS, { width: null }).split("\n")).toEqual([
      "order  reason                                                   n",
      "A-1    it was refused because nobody had expected that to come  1",
      "B-22   short                                                    –",
    ]);
  });

  test("fits the terminal: the widest column is cut, and says so", () => {
    const lines = drawTable(HEAD, ROWS, { width: 30 }).split("\n");
    expect(lines[1]).toBe("A-1    it was refused beca…  1");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(30);
  });

  test("keeps eight characters of each column, however narrow the terminal is", () => {
    expect(drawTable(HEAD, ROWS, { width: 5 }).split("\n")[1]).toBe("A-1    it was …  1");
  });

  test("measures letters as a terminal shows them", () => {
    const rows = [["茶碗茶碗茶碗茶碗茶碗", "x"]];
    expect(drawTable(["sku", "n"], rows, { width: 14 }).split("\n")).toEqual([
      "sku          n",
      "茶碗茶碗茶…  x",
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
