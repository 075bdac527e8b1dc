import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createProgram } from "../../apps/cli/src/program.ts";

test("README.md lists every command, and none that does not exist", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const known = createProgram({})
    .commands.flatMap((one) => [one.name(), ...one.commands.map((inner) => `${one.name()} ${inner.name()}`)])
    .toSorted();

  // In the table a command ends where its arguments, in capitals or brackets, begin.
  const rows = [...readme.matchAll(/^\| `junban ([^`]+)` \|/gm)];
  const listed = rows.map(([, words = ""]) => words.replace(/ [A-Z[].*/, "")).toSorted();
  expect(listed).toEqual(known);
  const mentioned = [...readme.matchAll(/`junban ([a-z][a-z-]*(?: (?:status|replay|drop|retry|forget))?)/g)];
  expect(mentioned.map(([, words = ""]) => words).filter((words) => !known.includes(words))).toEqual([]);
});
