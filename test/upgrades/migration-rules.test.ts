import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { statementsOf, violationsIn, type Exception } from "./migration-rules.ts";

/** Statements that break the rules and may stand all the same, each with the reason. */
const EXCEPTIONS: readonly Exception[] = [
  {
    migration: "0003_operator_actions",
    begins: "do $body",
    why: "it builds a block-range index only where the table is small; a large one is left to `create index concurrently`",
  },
];

const FOLDERS = ["../../migrations/", "../../packages/upstream-outbox/migrations/"];

async function migrationsIn(folder: string): Promise<{ name: string; text: string }[]> {
  const url = new URL(folder, import.meta.url);
  const files = (await readdir(url)).filter((file) => file.endsWith(".sql"));
  return Promise.all(
    files.map(async (file) => ({
      name: file.replace(/\.sql$/, ""),
      text: await readFile(new URL(file, url), "utf8"),
    })),
  );
}

test.each(FOLDERS)("every migration of %s only adds, and locks no table for long", async (folder) => {
  const migrations = await migrationsIn(folder);
  expect(migrations.length).toBeGreaterThan(0);
  expect(migrations.flatMap(({ name, text }) => violationsIn(name, text, EXCEPTIONS))).toEqual([]);
});

test("every exception is still needed", async () => {
  const migrations = (await Promise.all(FOLDERS.map(migrationsIn))).flat();
  const broken = migrations.flatMap(({ name, text }) => violationsIn(name, text));
  for (const { migration, begins } of EXCEPTIONS) {
    const excused = broken.filter(
      (violation) => violation.migration === migration && violation.statement.startsWith(begins),
    );
    expect(excused, begins).not.toEqual([]);
  }
});

describe("a migration", () => {
  const ruleOf = (text: string): string | undefined => violationsIn("0009_new", text)[0]?.rule;

  test.each([
    "create table notes (id bigint primary key); create index notes_by_id on notes (id)",
    "alter table orders add column note text",
    "alter table orders add column note text not null default 'none', add column size numeric(3, 1) default 0",
    "alter table outbox set (autovacuum_vacuum_threshold = 10, vacuum_index_cleanup = on)",
    "alter table orders add constraint note_short check (length(note) < 9) not valid",
    "create or replace function f() returns integer language plpgsql as $$ begin; drop table orders; end $$",
    "-- drop table orders;\ncomment on table orders is 'a; b'",
  ])("may say: %s", (text) => {
    expect(ruleOf(text)).toBeUndefined();
  });

  test.each([
    ["drop table orders", "neither adds"],
    ["truncate outbox", "neither adds"],
    ["update orders set status = 'x'", "neither adds"],
    ["lock table orders", "neither adds"],
    ["alter table orders alter column version type integer", "changes or takes away"],
    ["alter table orders add column note text, drop column status", "changes or takes away"],
    ["alter table orders rename column status to state", "changes or takes away"],
    ["alter table orders alter column currency set not null", "changes or takes away"],
    ["alter table orders add constraint c check (version > 0)", "changes or takes away"],
    ["ALTER TABLE Orders ADD COLUMN note text NOT NULL", "cannot fill it"],
    ["alter table orders add column seen timestamptz default clock_timestamp()", "rewrites the table"],
    ["alter table orders add column note text unique", "reads or rewrites"],
    ["alter table orders add column lines bigint generated always as identity", "reads or rewrites"],
    ["create index orders_by_note on orders (note)", "keeps writers out"],
    ["create unique index concurrently orders_by_note on orders (note)", "neither adds"],
  ])("may not say: %s", (text, rule) => {
    expect(ruleOf(text)).toContain(rule);
  });

  test("may say what it has an exception for, and nothing else", () => {
    const text = "drop table notes; drop table orders";
    const exceptions = [
      { migration: "0009_new", begins: "drop table notes", why: "nobody reads it any more" },
    ];
    expect(violationsIn("0009_new", text, exceptions).map(({ statement }) => statement)).toEqual([
      "drop table orders",
    ]);
    expect(violationsIn("0010_other", text, exceptions)).toHaveLength(2);
  });

  test("is told apart statement by statement, whatever stands in texts, bodies and comments", () => {
    expect(statementsOf("select 'a;b'; -- c;\nSELECT\n 2; do $x$ begin; end $x$")).toEqual([
      "select 'a;b'",
      "select 2",
      "do $body1$",
    ]);
  });
});
