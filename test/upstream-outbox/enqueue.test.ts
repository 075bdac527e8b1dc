import { readEnvelope } from "@junban/orders";
import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  enqueueEvent,
  migrateUpstream,
  NotInTransactionError,
  UnusableEventError,
} from "../../packages/upstream-outbox/src/index.ts";
import { freshDatabase } from "../support/index.ts";
import { begun, end, eventOf, freshLcid, freshShop, rowsOf } from "./lab.ts";

/** An event whose identity is unusable in one way each. */
const UNUSABLE: readonly (readonly [string, unknown])[] = [
  ["no object", ["a"]],
  ["nothing", null],
  ["another specversion", eventOf("L-1", "e", { specversion: "0.3" })],
  ["a specversion that is a number", eventOf("L-1", "e", { specversion: 1 })],
  ["no id", eventOf("L-1", "e", { id: undefined })],
  ["an empty id", eventOf("L-1", "")],
  ["an id that is a number", eventOf("L-1", "e", { id: 7 })],
  ["an id of 257 characters", eventOf("L-1", "x".repeat(257))],
  ["a line break in its id", eventOf("L-1", "a\nb")],
  ["a C1 control in its source", eventOf("L-1", "e", { source: "/a\u0085" })],
  ["a DEL in its type", eventOf("L-1", "e", { type: "payment.\u007f" })],
  ["a blank in its lcid", eventOf("L 1", "e")],
  ["a line break after its lcid", eventOf("L-1\n", "e")],
  ["an umlaut in its lcid", eventOf("Lä", "e")],
  ["an empty lcid", eventOf("", "e")],
  ["an lcid of 129 characters", eventOf("L".repeat(129), "e")],
  ["an lcid that is null", eventOf("L-1", "e", { lcid: null })],
];

const USABLE: readonly (readonly [string, unknown])[] = [
  ["256 characters beyond the basic plane as its id", eventOf("L-1", "😀".repeat(256))],
  ["128 characters as its lcid", eventOf("L".repeat(128), "e")],
  ["every character that an lcid may have", eventOf("aZ09._:@/+=~-", "e")],
  ["a type that nobody knows", eventOf("L-1", "e", { type: "loyalty.granted", data: { points: [1, null] } })],
  ["a schema version to come", eventOf("L-1", "e", { schemaversion: 9, data: { anything: true } })],
];

describe("an event that is written in the producer's transaction", () => {
  test("is there after the commit, and not after a rollback, of the whole or to a savepoint", async () => {
    const shop = await freshShop();
    const lcid = freshLcid();
    const rolledBack = await begun(shop);
    await enqueueEvent(rolledBack, eventOf(lcid, "gone"));
    await end(rolledBack, "ROLLBACK");

    const committed = await begun(shop);
    await enqueueEvent(committed, eventOf(lcid, "first"));
    await committed.query("SAVEPOINT here");
    await enqueueEvent(committed, eventOf(lcid, "also-gone"));
    await committed.query("ROLLBACK TO SAVEPOINT here");
    await enqueueEvent(committed, eventOf(lcid, "second"));
    await end(committed, "COMMIT");
    expect((await rowsOf(shop)).map(({ event }) => event.id)).toEqual(["first", "second"]);
  });

  test("is written through kysely's transaction as well, and goes with it", async () => {
    const shop = await freshShop();
    const pool = new pg.Pool({ connectionString: shop.databaseUrl, max: 2 });
    const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    onTestFinished(async () => kysely.destroy());
    const lcid = freshLcid();
    await kysely.transaction().execute(async (trx) => enqueueEvent(trx, eventOf(lcid, "kept")));
    await expect(
      kysely.transaction().execute(async (trx) => {
        await enqueueEvent(trx, eventOf(lcid, "gone"));
        throw new Error("changed my mind");
      }),
    ).rejects.toThrow("changed my mind");
    await expect(enqueueEvent(kysely, eventOf(lcid, "alone"))).rejects.toThrow(NotInTransactionError);
    expect((await rowsOf(shop)).map(({ event }) => event.id)).toEqual(["kept"]);
    expect((await sql`SELECT FROM junban_upstream.events`.execute(kysely)).rows).toHaveLength(1);
  });

  test("is refused where a rollback could not take it back: a pool, a client that has not begun", async () => {
    const { pool, ...shop } = await freshShop();
    await expect(enqueueEvent(pool, eventOf("L-1", "e"))).rejects.toThrow(NotInTransactionError);
    const client = await pool.connect();
    const refused = await enqueueEvent(client, eventOf("L-1", "e")).catch((error: unknown) => error);
    client.release();
    expect(refused).toBeInstanceOf(NotInTransactionError);
    expect(await rowsOf({ ...shop, pool })).toEqual([]);
  });

  test("comes out of the database as the event it was", async () => {
    const shop = await freshShop();
    const data = {
      points: [1.5, 5e-324, 1e-300, -0.1, 9007199254740991],
      note: 'é \\u0000 " 😀',
      nested: { b: null, a: [{}] },
    };
    const event = eventOf("L-1", "e", { type: "loyalty.granted", data, __proto: 1 });
    const client = await begun(shop);
    await enqueueEvent(client, event);
    await end(client, "COMMIT");
    expect((await rowsOf(shop))[0]?.event).toEqual(event);
  });
});

describe("an event that cannot be used", () => {
  test.each(UNUSABLE)("is refused with %s, and the transaction goes on without it", async (_what, event) => {
    const shop = await freshShop();
    expect(readEnvelope(event).kind).toBe("unusable");
    const client = await begun(shop);
    await enqueueEvent(client, eventOf("L-1", "before"));
    await expect(enqueueEvent(client, event)).rejects.toThrow(UnusableEventError);
    await enqueueEvent(client, eventOf("L-1", "after"));
    await end(client, "COMMIT");
    expect((await rowsOf(shop)).map((row) => row.event.id)).toEqual(["before", "after"]);
  });

  test.each([
    ["a negative amount", { data: { authorizationId: "a", amount: -1, currency: "JPY" } }, "data.amount"],
    ["a NUL in its data", { type: "loyalty.granted", data: { note: "a\0b" } }, "data.note"],
    ["half a character in its data", { type: "loyalty.granted", data: { note: "\ud800" } }, "data.note"],
    ["a number that JSON does not have", { type: "loyalty.granted", data: { n: Infinity } }, "data.n"],
    ["more than 64 KiB", { type: "loyalty.granted", data: { note: "x".repeat(65_536) } }, "event"],
  ])("is refused with %s, naming the place", async (_what, more, field) => {
    const shop = await freshShop();
    const client = await begun(shop);
    await expect(enqueueEvent(client, eventOf("L-1", "e", more))).rejects.toMatchObject({
      code: "UNUSABLE_EVENT",
      field,
    });
    await end(client, "COMMIT");
    expect(await rowsOf(shop)).toEqual([]);
  });
});

describe("plain SQL, from a bare client", () => {
  test("writes an event in any transaction, and its row number comes back", async () => {
    const shop = await freshShop();
    const client = new pg.Client({ connectionString: shop.databaseUrl });
    await client.connect();
    onTestFinished(async () => client.end());
    await client.query("BEGIN");
    await client.query("SELECT junban_upstream.enqueue_event($1)", [JSON.stringify(eventOf("L-1", "gone"))]);
    await client.query("ROLLBACK");
    const { rows } = await client.query(
      `SELECT junban_upstream.enqueue_event(jsonb_build_object('specversion', '1.0', 'id', 'e-1', 'source', '/shop',
         'type', 'cancel.confirmed', 'lcid', 'L-1', 'data', jsonb_build_object('cancelId', 'c-1'))) AS row`,
    );
    expect(rows).toEqual([{ row: "2" }]);
    expect((await rowsOf(shop)).map(({ event }) => event.id)).toEqual(["e-1"]);
  });

  test("refuses what has no usable identity as the package does, with a state of its own, and takes all else", async () => {
    const { pool, ...shop } = await freshShop();
    for (const [what, event] of UNUSABLE) {
      const refused = pool.query("SELECT junban_upstream.enqueue_event($1)", [JSON.stringify(event)]);
      await expect(refused, what).rejects.toMatchObject({ code: "22023" });
    }
    await expect(pool.query("SELECT junban_upstream.enqueue_event(NULL)")).rejects.toMatchObject({
      code: "22023",
    });
    const huge = JSON.stringify(eventOf("L-1", "e", { data: "x".repeat(140_000) }));
    await expect(pool.query("SELECT junban_upstream.enqueue_event($1)", [huge])).rejects.toMatchObject({
      code: "22023",
    });
    expect(await rowsOf({ pool, ...shop })).toEqual([]);
    for (const [, event] of USABLE) {
      expect(readEnvelope(event).kind).toBe("usable");
      await pool.query("SELECT junban_upstream.enqueue_event($1)", [JSON.stringify(event)]);
    }
    expect(await rowsOf({ pool, ...shop })).toHaveLength(USABLE.length);
  });

  test("is held to an outer bound even where it writes past the function", async () => {
    const { pool } = await freshShop();
    const huge = eventOf("L-1", "e", { data: "x".repeat(140_000) });
    await expect(
      pool.query("INSERT INTO junban_upstream.events (lcid, event) VALUES ('L-1', $1)", [huge]),
    ).rejects.toMatchObject({ code: "23514" });
  });

  test("needs no right on the table, only on the schema", async () => {
    const { pool, ...shop } = await freshShop();
    const role = `clerk_${shop.prefix.replaceAll("-", "_")}`;
    await pool.query(`CREATE ROLE ${role}`);
    onTestFinished(async () => {
      const admin = new pg.Client({ connectionString: shop.databaseUrl });
      await admin.connect();
      await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      await admin.end();
    });
    await pool.query(`GRANT USAGE ON SCHEMA junban_upstream TO ${role}`);
    const client = await begun({ pool });
    await client.query(`SET LOCAL ROLE ${role}`);
    await client.query("SELECT junban_upstream.enqueue_event($1)", [JSON.stringify(eventOf("L-1", "e"))]);
    await expect(client.query("DELETE FROM junban_upstream.events")).rejects.toMatchObject({ code: "42501" });
    await end(client, "ROLLBACK");
  });
});

test("the migration can run twice, and twice at once", async () => {
  const databaseUrl = await freshDatabase();
  const both = await Promise.all([migrateUpstream({ databaseUrl }), migrateUpstream({ databaseUrl })]);
  expect(both.flat()).toEqual(["0001_upstream_outbox"]);
  expect(await migrateUpstream({ databaseUrl })).toEqual([]);
});

test("an older version that migrates after a newer one changes nothing", async () => {
  const { databaseUrl, pool } = await freshShop();
  await pool.query("INSERT INTO junban_upstream.migrations VALUES ('9999_of_a_newer_version', now()::text)");
  expect(await migrateUpstream({ databaseUrl })).toEqual([]);
});
