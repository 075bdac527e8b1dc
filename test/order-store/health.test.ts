import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createOrderStore, migrate, type OrderStore } from "../../packages/order-store/src/index.ts";
import { freshDatabase } from "../support/index.ts";

let databaseUrl: string;
let store: OrderStore;

beforeEach(async () => {
  databaseUrl = await freshDatabase();
  store = createOrderStore({
    databaseUrl,
    worker: "test",
    statementTimeoutMs: 4_321,
    idleTransactionTimeoutMs: 1_234,
  });
});
afterEach(() => store.close());

async function inDatabase<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

test("the server's health tells its settings, and the limits as they hold in a session of the store", async () => {
  const expected = await inDatabase(async (client) => {
    const { rows } = await client.query<{ fsync: string; version: string; most: string }>(
      "select current_setting('fsync') fsync, current_setting('server_version_num') as version, current_setting('max_connections') as most",
    );
    return rows[0];
  });
  const health = await store.health();
  expect(health).toMatchObject({
    versionNumber: Number(expected?.version),
    fsync: expected?.fsync,
    isReplica: false,
    isReadOnly: false,
    statementTimeoutMs: 4_321,
    idleTransactionTimeoutMs: 1_234,
  });
  expect(health.connectionLimit).toBeGreaterThan(0);
  expect(health.connectionLimit).toBeLessThan(Number(expected?.most));
  expect(health.connections).toBeGreaterThan(0);
  expect(Math.abs(health.clock.serverMs - health.clock.askedAtMs)).toBeLessThan(60_000);
});

test("a server that was set to read-only is no replica and takes no writes", async () => {
  await inDatabase(async (client) => {
    const { rows } = await client.query<{ name: string }>("select quote_ident(current_database()) as name");
    await client.query(`alter database ${rows[0]?.name} set default_transaction_read_only = on`);
  });
  expect(await store.health()).toMatchObject({ isReplica: false, isReadOnly: true });
});

test("it names the tables that every event touches, and the one whose vacuum was switched off", async () => {
  await inDatabase((client) => client.query("alter table order_refs set (autovacuum_enabled = false)"));
  const { tables } = await store.health();
  expect(tables.map(({ name, isAutovacuumed }) => [name, isAutovacuumed])).toEqual([
    ["order_events", true],
    ["order_lines", true],
    ["order_refs", false],
    ["orders", true],
    ["outbox", true],
  ]);
});

test("a transaction that somebody left open is seen by its age", async () => {
  await inDatabase(async (client) => {
    await client.query("begin");
    await client.query("select pg_sleep(0.2)");
    expect((await store.health()).oldestTransactionMs).toBeGreaterThanOrEqual(150);
    await client.query("rollback");
  });
});

test("it can be asked before the schema is there", async () => {
  await inDatabase((client) => client.query("drop schema public cascade; create schema public"));
  expect((await store.health()).tables).toEqual([]);
  await migrate({ databaseUrl });
});
