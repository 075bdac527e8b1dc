import { literalText, walk } from "./source.ts";
import type { Source } from "./source.ts";

/** One row of docs/guarantees.md. */
export interface Guarantee {
  readonly id: string;
  readonly line: number;
  readonly shownBy: readonly TestName[];
}

/** A test as the table names it: a file and the title of one test in it. */
export interface TestName {
  readonly file: string;
  readonly title: string;
}

const GUARANTEE = /^[LITWPGUF]\d+$/;

/** The rows of every table whose first column holds an identifier such as L1, I5, T9, W11, U1 or F3, or whatever `id` matches. */
export function guaranteesIn(markdown: string, id: RegExp = GUARANTEE): Guarantee[] {
  return markdown.split("\n").flatMap((text, index) => {
    const cells = cellsOf(text);
    const first = cells[0];
    if (first === undefined || !id.test(first)) return [];
    return [{ id: first, line: index + 1, shownBy: namesIn(cells.at(-1) ?? "") }];
  });
}

/** The cells of one row of a table; none when the line is no row. */
export function cellsOf(row: string): string[] {
  if (!row.startsWith("|")) return [];
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** `test/a/b.test.ts` in backticks opens a group; each title in “quotes” behind it belongs to that file. */
function namesIn(cell: string): TestName[] {
  return [...cell.matchAll(/`([^`]+\.test\.ts)`((?:[^`](?!`test\/))*)/g)].flatMap((match) => {
    const file = match[1] ?? "";
    const titles = [...(match[2] ?? "").matchAll(/“([^”]+)”/g)].map((found) => found[1] ?? "");
    return titles.length === 0 ? [{ file, title: "" }] : titles.map((title) => ({ file, title }));
  });
}

/** What the table claims and the tests do not have; empty when every name leads somewhere. */
export function missingTests(guarantees: readonly Guarantee[], sources: readonly Source[]): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  return guarantees.flatMap(({ id, line, shownBy }) =>
    shownBy.flatMap(({ file, title }) => {
      const source = byPath.get(file);
      if (source === undefined) return [`line ${line}: ${id} names ${file}, which does not exist`];
      if (title === "") return [`line ${line}: ${id} names ${file} without the title of a test in it`];
      if (titlesIn(source).some(({ pattern }) => pattern.test(title))) return [];
      return [`line ${line}: ${id} names “${title}”, which is no test of ${file}`];
    }),
  );
}

const RUNNERS: ReadonlySet<string> = new Set(["test", "it"]);

/** The title of a test as its source has it. */
export interface WrittenTitle {
  /** Null when expressions are part of it. */
  readonly text: string | null;
  /** Matches what it may become; an expression inside it stands for any text. */
  readonly pattern: RegExp;
}

/** The titles of all tests in one module. */
export function titlesIn(source: Source): WrittenTitle[] {
  const found: WrittenTitle[] = [];
  walk(source.program, (node) => {
    if (node.type !== "CallExpression" || !RUNNERS.has(runnerOf(node.callee))) return;
    const title = node.arguments[0];
    if (title === undefined) return;
    if (title.type === "TemplateLiteral") {
      const parts = title.quasis.map((quasi) => escaped(quasi.value.cooked ?? ""));
      found.push({ text: null, pattern: new RegExp(`^${parts.join(".*")}$`) });
    } else {
      const text = literalText(title);
      if (text !== null) found.push({ text, pattern: new RegExp(`^${escaped(text)}$`) });
    }
  });
  return found;
}

/** `test`, `test.concurrent`, `test.each(table)` and `test.for(table)` all run tests. */
function runnerOf(callee: Parameters<typeof literalText>[0]): string {
  if (callee.type === "Identifier") return callee.name;
  if (callee.type === "MemberExpression") return runnerOf(callee.object);
  if (callee.type === "CallExpression") return runnerOf(callee.callee);
  return "";
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
