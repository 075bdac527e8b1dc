import type { Violation } from "./violation.ts";

/** A Lua file of the lane: its path and its text. */
export interface Script {
  readonly path: string;
  readonly text: string;
}

/**
 * Headers that do not match the body. Each script opens with comments that name every KEYS[n] and ARGV[n] it reads and
 * what it returns; `ARGV[4..]` documents a run of arguments whose length varies.
 */
export function wrongLuaHeaders(scripts: readonly Script[]): Violation[] {
  return scripts.flatMap(({ path, text }) => {
    const { header, body } = split(text);
    const says = [
      ...["KEYS", "ARGV"].flatMap((table) => differences(table, { header, body: withoutComments(body) })),
      ...(/\breturns?\b/i.test(header) ? [] : ["does not say in its header what it returns"]),
    ];
    return says.map((line) => ({ where: path, line: 1, says: line }));
  });
}

/** The leading comments, block or line, and the rest. */
function split(text: string): { readonly header: string; readonly body: string } {
  const header = /^(?:\s*(?:--\[(=*)\[[\s\S]*?\]\1\]|--[^\n]*\n))*/.exec(text)?.[0] ?? "";
  return { header, body: text.slice(header.length) };
}

function withoutComments(body: string): string {
  return body.replaceAll(/--\[(=*)\[[\s\S]*?\]\1\]/g, "").replaceAll(/--[^\n]*/g, "");
}

function differences(
  table: string,
  { header, body }: { readonly header: string; readonly body: string },
): string[] {
  const documented = numbers(table, header);
  const used = numbers(table, body);
  const openFrom = Number(new RegExp(`${table}\\[(\\d+)\\s*\\.\\.`).exec(header)?.[1] ?? Number.NaN);
  const isComputed = new RegExp(`#\\s*${table}\\b|${table}\\[\\s*[^\\d\\s\\]]|unpack\\(\\s*${table}`).test(
    body,
  );
  const isOpen = !Number.isNaN(openFrom);
  return [
    ...[...used]
      .filter((number) => !documented.has(number) && !(isOpen && number >= openFrom))
      .map((number) => `reads ${table}[${number}], which its header does not name`),
    ...[...documented]
      .filter((number) => !used.has(number) && !(isOpen && number >= openFrom))
      .map((number) => `names ${table}[${number}] in its header and never reads it`),
    ...(isComputed && !isOpen
      ? [`reads ${table} by a computed number, but its header names no ${table}[n..]`]
      : []),
    ...(isOpen && !isComputed ? [`documents ${table}[${openFrom}..], but reads no computed ${table}`] : []),
  ];
}

function numbers(table: string, text: string): ReadonlySet<number> {
  return new Set(
    [...text.matchAll(new RegExp(`${table}\\[\\s*(\\d+)`, "g"))].map((match) => Number(match[1])),
  );
}
