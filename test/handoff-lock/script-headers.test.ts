import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { KEYS_OF, scriptText } from "../../packages/handoff-lock/src/script-texts.ts";
import type { ScriptName } from "../../packages/handoff-lock/src/script-texts.ts";

const folder = new URL("../../packages/handoff-lock/lua/", import.meta.url);
const names = Object.keys(KEYS_OF) as ScriptName[];

interface Header {
  readonly keys: readonly string[];
  /** Argument numbers named one by one. */
  readonly args: readonly number[];
  /** The argument from which a run of any length begins. */
  readonly argsFrom: number | null;
  /** What a caller may get: the leading number of an answer. */
  readonly answers: readonly string[];
}

function sectionOf(header: readonly string[], title: string): string[] {
  const first = header.indexOf(title) + 1;
  expect(first, `a section ${title}`).toBeGreaterThan(0);
  const length = header.slice(first).findIndex((line) => !line.startsWith("  "));
  return header.slice(first, length === -1 ? undefined : first + length).map((line) => line.trim());
}

async function headerOf(name: ScriptName): Promise<Header> {
  const text = await readFile(new URL(`${name}.lua`, folder), "utf8");
  const header = /^(?:--.*\n)+/
    .exec(text)![0]
    .split("\n")
    .map((line) => line.replace(/^-- ?/, ""));
  const args = sectionOf(header, "ARGV").filter((line) => /^\d/.test(line));
  return {
    keys: sectionOf(header, "KEYS").map((line, index) => {
      expect(line).toMatch(new RegExp(`^${index + 1} \\w+$`));
      return line.replace(/^\d+ /, "");
    }),
    args: args.filter((line) => /^\d+ /.test(line)).map((line) => Number.parseInt(line, 10)),
    argsFrom: args.filter((line) => /^\d+…/.test(line)).map((line) => Number.parseInt(line, 10))[0] ?? null,
    answers: sectionOf(header, "Returns").map((line) => /^\{?(\w+)/.exec(line)![1]!),
  };
}

async function codeOf(name: ScriptName): Promise<string> {
  const text = await readFile(new URL(`${name}.lua`, folder), "utf8");
  return text.replaceAll(/--.*$/gm, "");
}

function numbersRead(code: string, table: "KEYS" | "ARGV"): number[] {
  const found = [...code.matchAll(new RegExp(`${table}\\[(\\d+)\\]`, "g"))].map((match) => Number(match[1]));
  return [...new Set(found)].toSorted((a, b) => a - b);
}

test("every script in the folder is known, and every known script is there", async () => {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".lua"));
  expect(files.toSorted()).toEqual(names.map((name) => `${name}.lua`).toSorted());
});

describe.each(names)("%s.lua", (name) => {
  test("names exactly the keys it uses, in the order they are sent", async () => {
    const { keys } = await headerOf(name);
    expect(keys).toEqual([...KEYS_OF[name]]);
    expect(numbersRead(await codeOf(name), "KEYS")).toEqual(keys.map((_, index) => index + 1));
  });

  test("names exactly the arguments it reads", async () => {
    const { args, argsFrom } = await headerOf(name);
    const code = await codeOf(name);
    expect(args).toEqual(args.map((_, index) => index + 1));
    expect(numbersRead(code, "ARGV").filter((number) => argsFrom === null || number < argsFrom)).toEqual(
      args,
    );
    expect(/#ARGV|ARGV\[[a-z]/.test(code), "reads a run of arguments").toBe(argsFrom !== null);
    if (argsFrom !== null) expect(argsFrom).toBe(args.length + 1);
  });

  test("names every answer it can give", async () => {
    const { answers } = await headerOf(name);
    const code = await codeOf(name);
    const given = [...code.matchAll(/return \{?\s*(\d+)/g)].map((match) => match[1]!);
    const builtUp = [...code.matchAll(/firstRequests\(\{ (\d+)/g)].map((match) => match[1]!);
    const numbered = [...new Set([...given, ...builtUp])];
    // inspect and sweep-outcomes answer one shape of named items instead of one of several kinds.
    if (numbered.length > 0) expect(answers.toSorted()).toEqual(numbered.toSorted());
    else expect(answers).toHaveLength(1);
  });

  test("says what happens when it is sent twice, if it writes", async () => {
    const text = await readFile(new URL(`${name}.lua`, folder), "utf8");
    expect(text).toMatch(/^-- (Sent twice: |.*Writes nothing)/m);
  });

  test("is put together from parts that touch neither table themselves", async () => {
    const parts = scriptText(name).slice(0, -(await readFile(new URL(`${name}.lua`, folder), "utf8")).length);
    expect(parts.replaceAll(/--.*$/gm, "")).not.toMatch(/\b(KEYS|ARGV)\b/);
  });
});
