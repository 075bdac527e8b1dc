import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { guaranteesIn, titlesIn } from "../architecture/rules/guarantees.ts";
import { parseSource } from "../architecture/rules/source.ts";
import { GUARDS } from "./guards/all.ts";
import { misdescribed, textsWithout } from "./guards/guard.ts";

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");

describe("every guard", () => {
  test("has a promise of its own, with which it is named everywhere", () => {
    const promises = GUARDS.map(({ promise }) => promise);
    expect(promises.filter((promise, index) => promises.indexOf(promise) !== index)).toEqual([]);
    expect(promises.filter((promise) => /[|“”\n]|\.$/.test(promise))).toEqual([]);
  });

  test("stands in the source exactly as often as it is said to", () => {
    expect(GUARDS.flatMap((guard) => misdescribed(guard, read))).toEqual([]);
  });

  test("leaves something that can be read when it is taken out", () => {
    for (const guard of GUARDS) {
      for (const [path, text] of textsWithout(guard, read)) {
        if (path.endsWith(".ts")) expect(() => parseSource(path, text), guard.promise).not.toThrow();
        expect(text, guard.promise).not.toBe(read(path));
      }
    }
  });

  test("names test files that exist", () => {
    const files = new Set(GUARDS.flatMap(({ tests }) => tests.map(({ file }) => file)));
    expect([...files].filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url)))).toEqual([]);
  });
});

describe("the table of guards in docs/guarantees.md", () => {
  const [, section = ""] = read("docs/guarantees.md").split("\n## Guards and the tests that miss them\n");
  const rows = guaranteesIn(section.split("\n## ")[0] ?? "", /^(?!guard$|-+$)/);

  test("has one row for each guard, in their order", () => {
    expect(rows.map(({ id }) => id)).toEqual(GUARDS.map(({ promise }) => promise));
  });

  test("names a test that each guard names as well", () => {
    for (const [index, { id, shownBy }] of rows.entries()) {
      const files = GUARDS[index]?.tests.map(({ file }) => file);
      expect(shownBy, id).toHaveLength(1);
      expect(files, id).toContain(shownBy[0]?.file);
    }
  });

  test("names tests that exist", () => {
    const missing = rows.flatMap(({ id, shownBy }) =>
      shownBy.filter(({ file, title }) => !isTitleOf(file, title)).map(({ title }) => `${id}: ${title}`),
    );
    expect(missing).toEqual([]);
  });
});

function isTitleOf(file: string, title: string): boolean {
  const text = read(file);
  if (titlesIn(parseSource(file, text)).some(({ pattern }) => pattern.test(title))) return true;
  // Tests made of the rows of a table have titles that are put together of the table's words.
  return title.split(": ").every((part) => text.includes(part));
}
