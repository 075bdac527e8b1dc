import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createProgram } from "../../apps/cli/src/program.ts";

test("README.md names no command that does not exist", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const known = new Set(
    createProgram({}).commands.flatMap((one) => [
      one.name(),
      ...one.commands.map((inner) => `${one.name()} ${inner.name()}`),
    ]),
  );
  const mentioned = [
    ...readme.matchAll(/(?:`|npx )junban ([a-z][a-z-]*(?: (?:status|replay|drop|retry|forget))?)/g),
  ];
  expect(mentioned.length).toBeGreaterThan(0);
  expect(mentioned.map(([, words = ""]) => words).filter((words) => !known.has(words))).toEqual([]);
});
