import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { migrate, MigrationError, migrationStatus, refuseOldSchema } from "@junban/order-store";
import { describe, expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/index.ts";
import { expectSound } from "./picture.ts";
import { openShop, shopAt, wordsOf, type Shop } from "./shop.ts";
import { Story } from "./story.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

async function openEmpty(): Promise<Shop> {
  const { shop, close } = await shopAt(await freshDatabase());
  onTestFinished(close);
  await shop.sql("drop schema public cascade");
  await shop.sql("create schema public");
  return shop;
}

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "junban-migrations-"));
  onTestFinished(async () => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

async function tablesOf(shop: Shop): Promise<string[]> {
  const rows = await shop.sql<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
  );
  return rows.map(({ name }) => name);
}

async function ownMigrations(): Promise<string[]> {
  const files = await readdir(join(ROOT, "migrations"));
  return files.map((name) => name.replace(/\.sql$/u, "")).toSorted();
}

describe("migrate", () => {
  test("brings an empty database up; a second run finds nothing to do and changes nothing", async () => {
    const shop = await openEmpty();
    const names = await ownMigrations();
    expect(await migrationStatus({ databaseUrl: shop.url })).toMatchObject({ applied: [], pending: names });
    expect(await migrate({ databaseUrl: shop.url })).toMatchObject({ applied: names });
    const tables = await tablesOf(shop);
    expect(tables).toEqual(
      expect.arrayContaining(["order_events", "order_lines", "order_refs", "orders", "outbox"]),
    );
    expect(await migrate({ databaseUrl: shop.url })).toMatchObject({ applied: [] });
    expect(await tablesOf(shop)).toEqual(tables);
    expect(await migrationStatus({ databaseUrl: shop.url })).toMatchObject({ applied: names, pending: [] });
    expect(wordsOf(await shop.apply(new Story("O1").completed())).at(-1)).toBe("applied 5");
  });

  test("several times at once: all succeed, each migration is applied once", async () => {
    const shop = await openEmpty();
    const reports = await Promise.all(
      Array.from({ length: 5 }, async () => migrate({ databaseUrl: shop.url, lockTimeoutMs: 30_000 })),
    );
    expect(reports.flatMap(({ applied }) => applied)).toEqual(await ownMigrations());
    expect(wordsOf(await shop.apply([new Story("O1").placed()]))).toEqual(["applied 1"]);
  });

  test("asking for the status changes nothing, not even an empty database", async () => {
    const shop = await openEmpty();
    await migrationStatus({ databaseUrl: shop.url });
    expect(await tablesOf(shop)).toEqual([]);
  });

  test("applies new files in the order of their names, all in one transaction", async () => {
    const shop = await openEmpty();
    const folder = await folderOf({
      "0002_more.sql": "alter table things add column size integer",
      "0001_things.sql": "create table things (id integer); insert into things values (1)",
      "notes.txt": "not a migration",
    });
    expect(await migrate({ databaseUrl: shop.url, folder })).toMatchObject({
      applied: ["0001_things", "0002_more"],
    });
    await writeFile(join(folder, "0003_last.sql"), "insert into things values (2, 2)");
    expect(await migrationStatus({ databaseUrl: shop.url, folder })).toMatchObject({
      applied: ["0001_things", "0002_more"],
      pending: ["0003_last"],
    });
    expect(await migrate({ databaseUrl: shop.url, folder })).toMatchObject({ applied: ["0003_last"] });
    expect(await shop.sql("select id, size from things order by id")).toEqual([
      { id: 1, size: null },
      { id: 2, size: 2 },
    ]);
  });

  test("an older build finds a newer schema in order: it changes nothing and says what it does not know", async () => {
    const shop = await openEmpty();
    const newer = await folderOf({
      "0001_things.sql": "create table things (id integer)",
      "0002_more.sql": "alter table things add column size integer",
    });
    const older = await folderOf({ "0001_things.sql": "create table things (id integer)" });
    await migrate({ databaseUrl: shop.url, folder: newer });
    expect(await migrate({ databaseUrl: shop.url, folder: older })).toEqual({
      applied: [],
      ahead: ["0002_more"],
    });
    expect(await migrationStatus({ databaseUrl: shop.url, folder: older })).toEqual({
      applied: ["0001_things"],
      pending: [],
      ahead: ["0002_more"],
    });
    await refuseOldSchema({ databaseUrl: shop.url, folder: older });
    expect(await migrate({ databaseUrl: shop.url, folder: newer })).toEqual({ applied: [], ahead: [] });
  });

  test("a migration that fails is named, and nothing of the set is kept", async () => {
    const shop = await openEmpty();
    const folder = await folderOf({
      "0001_things.sql": "create table things (id integer)",
      "0002_broken.sql": "create table others (id integer); select no_such_thing",
    });
    const failure = await migrate({ databaseUrl: shop.url, folder }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MigrationError);
    expect(failure).toMatchObject({
      code: "MIGRATION_FAILED",
      migration: "0002_broken",
      cause: { code: "42703" },
    });
    expect(await tablesOf(shop)).not.toContain("things");
    await writeFile(join(folder, "0002_broken.sql"), "create table others (id integer)");
    expect(await migrate({ databaseUrl: shop.url, folder })).toMatchObject({
      applied: ["0001_things", "0002_broken"],
    });
  });

  test("a database that does not answer is a typed failure as well", async () => {
    const databaseUrl = "postgres://junban:secret@127.0.0.1:1/nowhere";
    const failure = await migrate({ databaseUrl }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(String(failure)).not.toContain("secret");
  });
});

describe("a migration that waits behind somebody else's transaction", () => {
  const ADD_COLUMN = { "9003_column.sql": "alter table orders add column note text" };

  async function openWithPending(): Promise<{ shop: Shop; folder: string; story: Story }> {
    const shop = await openShop();
    const own = await folderOf(ADD_COLUMN);
    const real = join(ROOT, "migrations");
    for (const file of await readdir(real)) await copyFile(join(real, file), join(own, file));
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    return { shop, folder: own, story };
  }

  test("gives up at its lock_timeout with a typed error, and events flow meanwhile and afterwards", async () => {
    const { shop, folder, story } = await openWithPending();
    const idle = await shop.session();
    await idle.query("begin; select from orders");
    const migrating = migrate({ databaseUrl: shop.url, folder, lockTimeoutMs: 400 }).catch(
      (error: unknown) => error,
    );
    // Whatever queues up behind the waiting ALTER is let through as soon as that gives up.
    const [failure, result] = await Promise.all([migrating, shop.apply([story.sold("c1")])]);
    expect(failure).toBeInstanceOf(MigrationError);
    expect(failure).toMatchObject({
      migration: "9003_column",
      cause: { code: "55P03" },
      message: expect.stringContaining("did not end within 400 ms") as string,
    });
    expect(wordsOf(result)).toEqual(["applied 2"]);
    expect(wordsOf(await shop.apply([story.reserved("r1")]))).toEqual(["applied 3"]);
    await idle.query("rollback");
    expect(await migrate({ databaseUrl: shop.url, folder })).toMatchObject({ applied: ["9003_column"] });
  });

  test("gives up as well when another migration does not come to an end", async () => {
    const { shop, folder } = await openWithPending();
    const other = await shop.session();
    await other.query("begin; lock table junban_migrations, junban_migration_lock in access exclusive mode");
    const failure = await migrate({ databaseUrl: shop.url, folder, lockTimeoutMs: 300 }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(MigrationError);
    await other.query("rollback");
    expect(await migrate({ databaseUrl: shop.url, folder })).toMatchObject({ applied: ["9003_column"] });
  });

  test("a new column on any table stops nobody who prepared statements before", async () => {
    const shop = await openShop({ poolSize: 1 });
    const story = new Story("O1");
    const failed = new Story("O2");
    const useAll = async (name: string): Promise<void> => {
      expect(
        (await shop.apply([story.sold(name), story.captured(`early-${name}`, `a-${name}`, 5)])).trouble,
      ).toBeNull();
      expect((await shop.apply([story.authorized(`a-${name}`, 5)])).released).toBe(1);
      expect(await shop.store.readOrder("O1")).toMatchObject({ held: 0 });
      expect((await shop.store.readHistory("O1")).length).toBeGreaterThan(3);
      expect(await shop.store.readEvent(failed.placed())).toBeNull();
      await shop.store.listHeld({ limit: 5 });
      await shop.store.listDead({ limit: 5 });
      await shop.store.summary();
      await shop.store.expireHeld("O1");
      await shop.store.redecideUnsupported("O1");
      await shop.store.releaseHalted("O1");
      await shop.store.purgeOne("O1");
      for await (const { differences } of shop.store.audit()) expect(differences).toEqual([]);
    };
    await shop.apply([story.placed()]);
    await useAll("before");
    const { rows } = await (
      await shop.session()
    ).query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    for (const { name } of rows) await shop.sql(`alter table ${name} add column note text default 'new'`);
    await useAll("after");
    await expectSound(shop);
  });
});

test("the generated types of the schema are those of the migrated database", async () => {
  const folder = await folderOf({});
  const generated = join(folder, "schema.ts");
  await promisify(execFile)(
    join(ROOT, "node_modules/.bin/kysely-codegen"),
    [
      ["--url", await freshDatabase()],
      ["--dialect", "postgres"],
      ["--type-mapping", '{"int8":"number"}'],
      ["--exclude-pattern", "junban_*"],
      ["--out-file", generated],
    ].flat(),
    { cwd: ROOT },
  );
  // The formatter has only moved line ends and spaces.
  const wordsIn = async (file: string): Promise<string> =>
    (await readFile(file, "utf8")).replaceAll(/\s+/gu, "");
  expect(await wordsIn(join(ROOT, "packages/order-store/src/schema.ts"))).toBe(await wordsIn(generated));
});
