import pg from "pg";
import { expect, test } from "vitest";
import { eventually, freshDatabase, freshRedis } from "../support/index.ts";

test("fresh databases are migrated and separate", async () => {
  const [first, second] = await Promise.all([freshDatabase(), freshDatabase()]);
  expect(first).not.toBe(second);
  const client = new pg.Client({ connectionString: first });
  await client.connect();
  await client.query("CREATE TABLE only_here (id int)");
  const migrated = await client.query<{ name: string | null }>("SELECT to_regclass('order_events') AS name");
  expect(migrated.rows).toEqual([{ name: "order_events" }]);
  await client.end();
  const other = new pg.Client({ connectionString: second });
  await other.connect();
  const found = await other.query<{ name: string | null }>("SELECT to_regclass('only_here') AS name");
  await other.end();
  expect(found.rows).toEqual([{ name: null }]);
});

test("fresh Redis corners have prefixes of their own", async () => {
  const one = freshRedis();
  const other = freshRedis();
  expect(one.prefix).not.toBe(other.prefix);
  expect(await one.connect().ping()).toBe("PONG");
});

test("eventually hands out the answer, and the last failure when the bound is reached", async () => {
  let asked = 0;
  const answer = await eventually(() => {
    asked += 1;
    if (asked < 3) throw new Error("not yet");
    return asked;
  });
  expect(answer).toBe(3);
  await expect(eventually(() => false, { withinMs: 30 })).rejects.toThrow("answered false");
});
