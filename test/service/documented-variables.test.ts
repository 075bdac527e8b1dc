import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import {
  DATABASE_URL,
  FAMILY_NAMES,
  FOREIGN_NAMES,
  REDIS_URL,
  VARIABLES,
} from "../../packages/service/src/variables.ts";

const read = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), "utf8");
const page = await read("docs/configuration.md");
const readme = await read("README.md");

function fallbackInWords(fallback: unknown): string {
  return fallback === "" ? "none" : String(fallback);
}

test("docs/configuration.md names every variable with its default, and no other", () => {
  const rows = [...page.matchAll(/^\| `([A-Z][A-Z_]*)` \| ([^|]*) \|/gm)].map(
    ([, name = "", fallback = ""]) => [name, fallback.replaceAll("`", "")],
  );
  const known = Object.values(VARIABLES).map(({ name, fallback }) => [
    name,
    fallback === FAMILY_NAMES ? "all four" : fallbackInWords(fallback),
  ]);
  expect(rows).toEqual(known);
});

test("docs/configuration.md names the addresses and what only tests and demo read, and README.md no variable that is not there", () => {
  for (const name of [DATABASE_URL.name, REDIS_URL.name, ...FOREIGN_NAMES]) {
    expect(page).toContain(`\`${name}\``);
  }
  const named = [...`${page}\n${readme}`.matchAll(/`(JUNBAN_[A-Z_]+)`/g)].map(([, name = ""]) => name);
  const known = new Set<string>([...Object.values(VARIABLES).map(({ name }) => name), ...FOREIGN_NAMES]);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});
