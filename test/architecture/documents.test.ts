import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { guaranteesIn, missingTests } from "./rules/guarantees.ts";
import { brokenLinks } from "./rules/links.ts";
import { parseSource } from "./rules/source.ts";
import { readTree } from "./rules/tree.ts";

const tree = readTree();

describe("docs/guarantees.md", () => {
  const guarantees = guaranteesIn(tree.read("docs/guarantees.md"));

  test("has one row for each guarantee, and then for each failure that others met", () => {
    const ids = (letter: string, count: number): string[] =>
      Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
    expect(guarantees.map((guarantee) => guarantee.id)).toEqual([
      ...ids("L", 12),
      ...ids("I", 5),
      ...ids("T", 9),
      ...ids("W", 12),
      ...ids("P", 3),
      ...ids("G", 5),
      ...ids("U", 9),
      ...ids("F", 39),
    ]);
  });

  test("names only tests that exist", () => {
    expect(missingTests(guarantees, tree.sources)).toEqual([]);
  });
});

describe("docs/security.md", () => {
  test("names a test for each claim, and only tests that exist", () => {
    const claims = guaranteesIn(tree.read("docs/security.md"), /^S\d+$/);
    expect(claims.map(({ id }) => id)).toEqual(claims.map((_, index) => `S${index + 1}`));
    expect(claims.length).toBeGreaterThan(10);
    // One is a row of the other page, where its tests stand.
    expect(claims.filter(({ shownBy }) => shownBy.length === 0).map(({ id }) => id)).toEqual(["S9"]);
    expect(missingTests(claims, tree.sources)).toEqual([]);
  });
});

describe("docs/README.md", () => {
  test("has every page of docs/ in a line", () => {
    const rows = [...tree.read("docs/README.md").matchAll(/^\| \[[^\]]+\]\(([^)#]+)[^)]*\) \| \S/gm)];
    const linked = new Set(rows.map(([, target]) => `docs/${target}`));
    const pages = tree.files.filter((path) => /^docs\/.*\.md$/.test(path) && path !== "docs/README.md");
    // A folder stands for what is in it.
    const isListed = (page: string): boolean =>
      [...linked].some((target) => page === target || (target.endsWith("/") && page.startsWith(target)));
    expect(pages.filter((page) => !isListed(page))).toEqual([]);
  });
});

describe("examples in the documents", () => {
  test("import only what an installation has built", () => {
    const { scripts } = JSON.parse(tree.read("package.json")) as { scripts: Record<string, string> };
    const roots = scripts["prepare"]?.replace("tsc -b ", "").split(" ") ?? [];
    const imported = tree.files
      .filter((path) => path.endsWith(".md"))
      .flatMap((path) => [...tree.read(path).matchAll(/^import .* from "@junban\/([\w-]+)";$/gm)])
      .map(([, name]) => `packages/${name}`);
    expect(imported.length).toBeGreaterThan(3);
    const built = withReferences(roots);
    expect(imported.filter((folder) => !built.has(folder))).toEqual([]);
  });

  function withReferences(folders: readonly string[], found = new Set<string>()): ReadonlySet<string> {
    for (const folder of folders) {
      if (found.has(folder)) continue;
      found.add(folder);
      const { references = [] } = JSON.parse(tree.read(`${folder}/tsconfig.json`)) as {
        references?: readonly { path: string }[];
      };
      withReferences(
        references.map(({ path }) => posix.join(folder, path)),
        found,
      );
    }
    return found;
  }
});

describe("links", () => {
  test("lead to files of the project and nowhere else", () => {
    const pages = tree.files
      .filter((path) => path.endsWith(".md"))
      .map((path) => ({ path, text: tree.read(path) }));
    expect(brokenLinks(pages, tree.files)).toEqual([]);
  });

  test("flags a link to a missing file and one to another site, and passes code blocks", () => {
    const text =
      "[a](docs/a.md) [b](./b.md#part) [c](https://example.test) [d](#here)\n```\n[e](missing)\n```\n";
    expect(brokenLinks([{ path: "README.md", text }], ["docs/a.md"])).toEqual([
      "README.md links to ./b.md#part, which does not exist",
      "README.md links to https://example.test, outside the project",
    ]);
  });
});

describe("the table of guarantees", () => {
  const source = parseSource(
    "test/handoff-lock/lane.test.ts",
    `describe("lane", () => { test("hands the turn on", () => {}); test.each([1])(\`serves \${1} waiters\`, () => {}); });`,
  );
  const missing = (cell: string): string[] =>
    missingTests(guaranteesIn(`| L4 | handoff | ${cell} |`), [source]);

  test("passes titles that exist, also those with an expression inside", () => {
    expect(missing("")).toEqual([]);
    expect(missing("`test/handoff-lock/lane.test.ts` “hands the turn on”, “serves 12 waiters”")).toEqual([]);
  });

  test("flags a title that is no test of the file", () => {
    expect(missing("`test/handoff-lock/lane.test.ts` “hands the turn on”, “lane”")).toEqual([
      "line 1: L4 names “lane”, which is no test of test/handoff-lock/lane.test.ts",
    ]);
  });

  test("flags a file that does not exist, and a file without a title", () => {
    expect(missing("`test/handoff-lock/lane.test.ts` “hands the turn on”; `test/gone.test.ts` “x”")).toEqual([
      "line 1: L4 names test/gone.test.ts, which does not exist",
    ]);
    expect(missing("`test/handoff-lock/lane.test.ts`")).toHaveLength(1);
  });
});
