import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../apps/cli/src/program.ts";
import { isUnderstood } from "./understanding.ts";

const page = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");
const sections = new Map(
  page
    .split(/^## /mu)
    .slice(1)
    .map((text) => [/^`junban ([^`]+)`\n/u.exec(text)?.[1] ?? "", text] as const),
);

type Command = ReturnType<typeof createProgram>;

interface Documented {
  readonly path: string;
  readonly command: Command;
}

function commandsIn(command: Command, above: readonly string[] = []): Documented[] {
  return command.commands.flatMap((one) => {
    const path = [...above, one.name()];
    return [{ path: path.join(" "), command: one }, ...commandsIn(one, path)];
  });
}

const commands = commandsIn(createProgram({}));
const helpOf = (command: Command): string => {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
};

test("docs/cli.md has a section for each command, and for nothing else", () => {
  expect([...sections.keys()]).toEqual(commands.map(({ path }) => path));
});

describe.each(commands)("junban $path", ({ path, command }) => {
  const section = sections.get(path) ?? "";
  const rows = [...section.matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gmu)].map(
    ([, name = "", fallback = ""]) => ({
      name,
      fallback: fallback.trim(),
    }),
  );

  test("has its arguments and options with their defaults in the page, and no others", () => {
    const known = [
      ...command.registeredArguments.map((one) => {
        const name = one.variadic ? `${one.name()}...` : one.name();
        return { name: one.required ? `<${name}>` : `[${name}]`, fallback: null };
      }),
      ...command.options.map(({ flags, defaultValue }) => ({
        name: flags,
        fallback: defaultValue === undefined ? null : String(defaultValue),
      })),
    ];
    expect(rows.map(({ name }) => name)).toEqual(known.map(({ name }) => name));
    for (const { name, fallback } of known) {
      if (fallback !== null) expect(rows.find((row) => row.name === name)?.fallback).toBe(fallback);
    }
  });

  test("has its exit codes and an example in the page, and an example in its help", () => {
    expect(section).toMatch(/^Exit codes: 0 /mu);
    expect(section).toMatch(new RegExp(`^ {4}junban ${path}(?: |$)`, "mu"));
    expect(helpOf(command)).toMatch(/^Example: .*junban /mu);
  });

  test("understands each of its examples", async () => {
    const shown = [
      ...[...section.matchAll(/^ {4}(junban .*)$/gmu)].map(([, line = ""]) => line),
      ...[...helpOf(command).matchAll(/^Example: (junban .*)$/gmu)].map(
        ([, line = ""]) => line.split(" && ")[0] ?? "",
      ),
    ].filter((line) => !line.includes(" completion "));
    for (const example of shown) expect([example, await isUnderstood(example)]).toEqual([example, true]);
  });
});

test("an option that a command does not have is not understood", async () => {
  expect(await isUnderstood("junban lanes --depth 3")).toBe(false);
});
