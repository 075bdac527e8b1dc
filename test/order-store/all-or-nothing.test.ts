import type { EventEnvelope } from "@junban/orders";
import { beforeAll, describe, expect, test } from "vitest";
import { freshDatabase } from "../support/index.ts";
import { expectSound, pictureOf, wholeOf, type Picture } from "./picture.ts";
import { openShop, shopAt, wordsOf, type Shop } from "./shop.ts";
import { Story } from "./story.ts";
import { eventuallyBlocked, raiseAt, terminateAt, type Table, type TrapSite } from "./traps.ts";

const LCID = "T1";

/** Three batches that together write to every table in every way: shells, new and changed rows, a held event's decision. */
function batches(): EventEnvelope[][] {
  const story = new Story(LCID);
  return [
    [story.captured("c1", "a1"), story.placed()],
    [story.authorized("a1"), story.reserved("r1"), story.lineAdded("L2")],
    [story.released("x1", "r1"), story.quantityChanged("q1", "L2", [1, 3]), story.refunded("f1", "c1", 50)],
  ];
}

const WORDS = [
  ["deferred ORDER_NOT_FOUND", "applied 1"],
  ["applied 2", "applied 4", "applied 5"],
  ["applied 6", "applied 7", "applied 8"],
];

const SITES: readonly TrapSite[] = [
  { table: "orders", on: "insert" },
  { table: "orders", on: "update" },
  { table: "order_lines", on: "insert" },
  { table: "order_lines", on: "update" },
  { table: "order_refs", on: "insert" },
  { table: "order_refs", on: "update" },
  { table: "order_events", on: "insert" },
  { table: "order_events", on: "update" },
  { table: "outbox", on: "insert" },
  { table: "order_events", on: "commit of insert" },
  { table: "orders", on: "commit of update" },
];

let expected: Picture;

beforeAll(async () => {
  const { shop, close } = await shopAt(await freshDatabase());
  for (const [index, batch] of batches().entries()) {
    expect(wordsOf(await shop.apply(batch))).toEqual(WORDS[index]);
  }
  await expectSound(shop);
  expected = await pictureOf(shop, LCID);
  await close();
});

/** Applies a batch that cannot succeed, shows that it left nothing, and says whether there was trouble at all. */
async function meetsTrouble(shop: Shop, batch: readonly EventEnvelope[]): Promise<boolean> {
  const before = await wholeOf(shop);
  const result = await shop.apply(batch);
  if (result.trouble === null) return false;
  expect(result).toMatchObject({ settled: [], trouble: { kind: "passing" } });
  expect(await wholeOf(shop)).toEqual(before);
  await expectSound(shop);
  return true;
}

describe("a transaction that fails at any of its writes leaves nothing, and its repeat ends where it should", () => {
  test.each(SITES)("failing at $on on $table", async (site) => {
    const shop = await openShop();
    const trap = await raiseAt(shop, { ...site, code: "40001" });
    let troubled = 0;
    for (const [index, batch] of batches().entries()) {
      const again = await meetsTrouble(shop, batch);
      if (!again) continue;
      troubled += 1;
      await trap.disarm();
      expect(wordsOf(await shop.apply(batch))).toEqual(WORDS[index]);
    }
    expect(troubled).toBe(1);
    expect(await pictureOf(shop, LCID)).toEqual(expected);
    await expectSound(shop);
  });

  test.each(SITES)("the server ending the session at $on on $table", async (site) => {
    const shop = await openShop();
    const trap = await terminateAt(shop, { ...site, times: 1 });
    for (const [index, batch] of batches().entries()) {
      const result = await shop.apply(batch);
      if (result.trouble === null) expect(wordsOf(result)).toEqual(WORDS[index]);
      else expect(wordsOf(await shop.apply(batch))).toEqual(WORDS[index]);
    }
    expect(await trap.steps()).toBeGreaterThan(0);
    expect(await pictureOf(shop, LCID)).toEqual(expected);
    await expectSound(shop);
  });
});

const TABLES: readonly Table[] = [
  "orders",
  "purged_orders",
  "order_events",
  "order_lines",
  "order_refs",
  "outbox",
];

describe("a transaction stopped before any of its statements leaves nothing, and its repeat ends where it should", () => {
  test.each(TABLES)("while nobody can touch %s", async (table) => {
    const shop = await openShop({ lockTimeoutMs: 50 });
    const admin = await shop.session();
    let troubled = 0;
    for (const [index, batch] of batches().entries()) {
      await admin.query(`begin; lock table ${table} in access exclusive mode`);
      const result = await shop.apply(batch);
      await admin.query("rollback");
      if (result.trouble !== null) {
        troubled += 1;
        expect(result).toMatchObject({ settled: [], trouble: { kind: "passing" } });
        await expectSound(shop);
        expect(wordsOf(await shop.apply(batch))).toEqual(WORDS[index]);
      }
    }
    expect(troubled).toBeGreaterThan(0);
    expect(await pictureOf(shop, LCID)).toEqual(expected);
    await expectSound(shop);
  });

  test.each(TABLES)("the server ending the session that waits for %s", async (table) => {
    const shop = await openShop({ lockTimeoutMs: 10_000 });
    const admin = await shop.session();
    for (const [index, batch] of batches().entries()) {
      await admin.query(`begin; lock table ${table} in access exclusive mode`);
      const applying = shop.apply(batch);
      const isBlocked = await Promise.race([
        eventuallyBlocked(shop).then(() => true),
        applying.then(() => false),
      ]);
      if (isBlocked) {
        await admin.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))",
        );
      }
      await admin.query("rollback");
      const result = await applying;
      const settled = result.trouble === null ? result : await shop.apply(batch);
      expect(wordsOf(settled)).toEqual(WORDS[index]);
    }
    expect(await pictureOf(shop, LCID)).toEqual(expected);
    await expectSound(shop);
  });
});
