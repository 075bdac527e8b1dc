import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import {
  DATABASE_URL,
  FAMILY_NAMES,
  FOREIGN_NAMES,
  REDIS_URL,
  VARIABLES,
} from "../../packages/service/src/variables.ts";

const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");

function fallbackInWords(fallback: unknown): string {
  return fallback === "" ? "none" : String(fallback);
}

test("README.md names every variable with its default, and no other", () => {
  const rows = [...readme.matchAll(/^\| `([A-Z][A-Z_]*)` \| ([^|]*) \|/gm)].map(
    ([, name = "", fallback = ""]) => [name, fallback.replaceAll("`", "")],
  );
  const known = Object.values(VARIABLES).map(({ name, fallback }) => [
    name,
    fallback === FAMILY_NAMES ? "all four" : fallbackInWords(fallback),
  ]);
  expect(rows).toEqual(known);
});

test("README.md names the addresses and what only tests and demo read", () => {
  for (const name of [DATABASE_URL.name, REDIS_URL.name, ...FOREIGN_NAMES]) {
    expect(readme).toContain(`\`${name}\``);
  }
  const named = [...readme.matchAll(/`(JUNBAN_[A-Z_]+)`/g)].map(([, name = ""]) => name);
  const known = new Set<string>([...Object.values(VARIABLES).map(({ name }) => name), ...FOREIGN_NAMES]);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});
