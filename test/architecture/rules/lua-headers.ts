import type { Violation } from "./violation.ts";

/** A Lua file of the lane: its path and its text. */
export interface Script {
  readonly path: string;
  readonly text: string;
}

interface Header {
  /** What the header says about each table: the numbers it names, and the number from which a run of arguments begins. */
  readonly tables: ReadonlyMap<string, { readonly named: ReadonlySet<number>; readonly openFrom: number }>;
  readonly returns: boolean;
  readonly uses: readonly string[];
}

const SECTIONS: readonly string[] = ["KEYS", "ARGV", "Returns"];

/**
 * Headers that do not match the body. A script opens with comments that hold the sections KEYS, ARGV and Returns, one
 * numbered line for each key and argument (`7…` for a run of arguments whose length varies) and a line `use: x` for each
 * part it is put together with. A part, in the folder `parts`, is handed what it needs and reads neither table itself.
 */
export function wrongLuaHeaders(scripts: readonly Script[]): Violation[] {
  const parts = new Map(
    scripts.filter(isPart).map((part) => [nameOf(part), functionsIn(withoutComments(part.text))] as const),
  );
  return scripts.flatMap((script) => {
    const says = isPart(script) ? partFaults(script) : scriptFaults(script, parts);
    return says.map((line) => ({ where: script.path, line: 1, says: line }));
  });
}

function partFaults({ text }: Script): string[] {
  return ["KEYS", "ARGV"]
    .filter((table) => new RegExp(String.raw`\b${table}\b`).test(withoutComments(text)))
    .map((table) => `is a part and reads ${table}: hand it what it needs`);
}

function scriptFaults({ text }: Script, parts: ReadonlyMap<string, readonly string[]>): string[] {
  const header = headerOf(text);
  const body = withoutComments(text);
  return [
    ...differences("KEYS", { header, body }),
    ...differences("ARGV", { header, body }),
    ...(header.returns ? [] : ["does not say in its header what it returns"]),
    ...wrongUses(header, { body, parts }),
  ];
}

function headerOf(text: string): Header {
  const named = new Map(SECTIONS.map((section) => [section, new Set<number>()]));
  const openFrom = new Map<string, number>();
  const uses: string[] = [];
  let section = "";
  for (const line of /^(?:--[^\n]*\n)*/.exec(text)?.[0].split("\n") ?? []) {
    const content = line.replace(/^-- ?/, "");
    const number = /^\s+(\d+)(…?)/.exec(content);
    const use = /^use: (\S+)$/.exec(content)?.[1];
    if (use !== undefined) uses.push(use);
    if (/^\S/.test(content)) section = SECTIONS.includes(content) ? content : "";
    if (number === null || section === "") continue;
    if (number[2] === "") named.get(section)?.add(Number(number[1]));
    else openFrom.set(section, Number(number[1]));
  }
  return {
    tables: new Map(
      [...named].map(([table, numbers]) => [
        table,
        { named: numbers, openFrom: openFrom.get(table) ?? Infinity },
      ]),
    ),
    returns: /^-- Returns\n-- +\S/m.test(text),
    uses,
  };
}

function differences(table: string, given: { readonly header: Header; readonly body: string }): string[] {
  const { named = new Set<number>(), openFrom = Infinity } = given.header.tables.get(table) ?? {};
  const used = new Set(
    [...given.body.matchAll(new RegExp(String.raw`${table}\[\s*(\d+)\s*\]`, "g"))].map((match) =>
      Number(match[1]),
    ),
  );
  const isComputed = new RegExp(String.raw`${table}\[\s*[^\d\s]|unpack\(\s*${table}`).test(given.body);
  return [
    ...[...used]
      .filter((number) => !named.has(number) && number < openFrom)
      .map((number) => `reads ${table}[${number}], which its header does not name`),
    ...[...named]
      .filter((number) => !used.has(number))
      .map((number) => `names ${table} ${number} in its header and never reads it`),
    ...(isComputed && openFrom === Infinity
      ? [`reads ${table} by a computed number, but its header names no run of arguments`]
      : []),
    ...(!isComputed && openFrom < Infinity
      ? [`names a run of ${table} from ${openFrom}, but computes no number`]
      : []),
  ];
}

function wrongUses(
  header: Header,
  given: { readonly body: string; readonly parts: ReadonlyMap<string, readonly string[]> },
): string[] {
  const calls = (name: string): boolean => new RegExp(String.raw`\b${name}\(`).test(given.body);
  return [
    ...header.uses.filter((use) => !given.parts.has(use)).map((use) => `uses ${use}, which is no part`),
    ...[...given.parts]
      .filter(([part, functions]) => !header.uses.includes(part) && functions.some(calls))
      .map(([part]) => `calls into ${part} without a line "use: ${part}"`),
  ];
}

function functionsIn(body: string): string[] {
  return [...body.matchAll(/^local function (\w+)/gm)].map((match) => match[1] ?? "");
}

function withoutComments(text: string): string {
  return text.replaceAll(/--\[(=*)\[[\s\S]*?\]\1\]/g, "").replaceAll(/--[^\n]*/g, "");
}

function isPart({ path }: Script): boolean {
  return path.includes("/parts/");
}

function nameOf({ path }: Script): string {
  return path.replace(/^.*\//, "").replace(/\.lua$/, "");
}
