import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { PAYLOADS } from "../../packages/orders/src/payloads.ts";

const text = async (path: string): Promise<string> =>
  readFile(new URL(`../../${path}`, import.meta.url), "utf8");
const page = (await text("docs/events.md")).replaceAll(/^```[\s\S]*?^```/gm, "");

/** The names in backticks of a Markdown cell. */
function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

test("docs/events.md names every type with the fields of its data", () => {
  const rows = [...page.matchAll(/^\| `([a-z]+\.[a-z_]+)` \| ([^|]*) \|/gm)];
  const documented = rows.map(([, type = "", fields = ""]) => [type, namesIn(fields).toSorted()]);
  const known = Object.entries(PAYLOADS).map(([type, schema]) => {
    const shape = "shape" in schema ? schema.shape : {};
    return [type, Object.keys(Object(shape) as object).toSorted()];
  });
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(known));
});

test("docs/events.md names every reason and status of the domain", async () => {
  const decision = await text("packages/orders/src/decision.ts");
  const derive = await text("packages/orders/src/derive.ts");
  const words = [...`${decision}${derive}`.matchAll(/^ {2}\| "([A-Za-z_]+)"/gm)].map(([, word = ""]) => word);
  expect(words.length).toBeGreaterThan(50);
  const named = new Set(namesIn(page));
  expect(words.filter((word) => !named.has(word))).toEqual([]);
});
