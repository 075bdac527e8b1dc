import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { openShell } from "./junban.ts";

test("README.md lists every command, and none that does not exist", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const shell = await openShell();
  const commandsIn = async (...above: readonly string[]): Promise<string[]> => {
    const { code, out } = await shell.junban([...above, "--help"]);
    expect(code).toBe(0);
    const listed = out.split("\nCommands:\n")[1] ?? "";
    return [...listed.matchAll(/^ {2}(\w[\w-]*)/gm)].flatMap(([, name = ""]) =>
      name === "help" ? [] : [[...above, name].join(" ")],
    );
  };
  const top = await commandsIn();
  const below = [
    ...(await commandsIn("migrate")),
    ...(await commandsIn("dlq")),
    ...(await commandsIn("parked")),
  ];
  const known = [...top, ...below].toSorted();

  // In the table a command ends where its arguments, in capitals or brackets, begin.
  const rows = [...readme.matchAll(/^\| `junban ([^`]+)` \|/gm)];
  const listed = rows.map(([, words = ""]) => words.replace(/ [A-Z[].*/, "")).toSorted();
  expect(listed).toEqual(known);
  const mentioned = [...readme.matchAll(/`junban ([a-z][a-z-]*(?: (?:status|replay|drop|retry))?)/g)];
  expect(mentioned.map(([, words = ""]) => words).filter((words) => !known.includes(words))).toEqual([]);
});
