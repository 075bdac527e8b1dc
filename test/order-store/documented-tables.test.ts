import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { openShop } from "./shop.ts";
import { Story } from "./story.ts";

const page = await readFile(new URL("../../docs/architecture.md", import.meta.url), "utf8");
const section = page.split("## The tables")[1]?.split("\n## ")[0] ?? "";

test("docs/architecture.md names tables and columns that exist, and every table that orders live in", async () => {
  const shop = await openShop();
  const columns = await shop.sql<{ table_name: string; column_name: string }>(
    `select table_name, column_name from information_schema.columns
     where table_schema = 'public' and table_name not like 'junban_%'`,
  );
  const known = new Set(columns.map((column) => `${column.table_name}.${column.column_name}`));
  const rows = [...section.matchAll(/^\| `(\w+)` \| [^|]* \| ([^|]*) \|/gm)];
  expect(rows.map(([, table = ""]) => table).toSorted()).toEqual(
    [...new Set(columns.map((column) => column.table_name))].toSorted(),
  );
  const named = rows.flatMap(([, table = "", cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, column = ""]) => `${table}.${column}`),
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((column) => !known.has(column))).toEqual([]);
});

test("docs/architecture.md shows an outbox payload as it is", async () => {
  const shop = await openShop();
  const story = new Story("A-1001");
  const lines = [{ lineId: "1", sku: "TEA-100", quantity: 2, unitAmount: 600 }];
  await shop.apply([
    story.event("order.placed", { currency: "JPY", adjustment: 0, shipGate: "captured", lines }),
    story.authorized("a-1", 1_200, { source: "/payments", id: "evt-80" }),
  ]);
  const [row] = await shop.sql<{ payload: unknown }>("select payload from outbox where version = 2");
  const [, shown = "null"] = /^```json\n([\s\S]*?)^```$/m.exec(section) ?? [];
  expect(JSON.parse(shown)).toEqual(row?.payload);
});
