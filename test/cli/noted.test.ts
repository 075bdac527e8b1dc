import { hostname, userInfo } from "node:os";
import { createLanes } from "@junban/handoff-lock";
import { createOrderStore, type OrderStore } from "@junban/order-store";
import { consumeOrderUpdates } from "@junban/order-updates";
import { readEnvelopeText, requestOf } from "@junban/orders";
import pg from "pg";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { freshRedis } from "../support/index.ts";
import { line, openShell, placed, type Shell } from "./junban.ts";

const WHO = `${userInfo().username}@${hostname()} (junban)`;

let shell: Shell;
let store: OrderStore;

beforeEach(async () => {
  shell = await openShell();
  store = openStore();
  return async () => store.close();
});

function openStore(options: { decide?: () => never } = {}): OrderStore {
  return createOrderStore({ databaseUrl: shell.databaseUrl, worker: "test", ...options });
}

async function sql(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: shell.databaseUrl });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

async function apply(lines: readonly string[], from: OrderStore): Promise<void> {
  const requests = lines.map((text) => {
    const reading = readEnvelopeText(text);
    if (reading.kind === "unusable") throw new Error(reading.rule);
    return { ...requestOf(reading.envelope), publishedAtMs: Date.now() };
  });
  const [result] = await from.apply([{ lcid: "A", requests }]);
  expect(result?.trouble).toBeNull();
}

async function haltAt(id: string): Promise<void> {
  const failing = openStore({
    decide: () => {
      throw new Error("boom");
    },
  });
  await apply([placed("A", { id })], failing);
  await failing.close();
}

test("what the command replays and drops is on record where the console notes it, under its user's name", async () => {
  await haltAt("p");
  expect((await shell.junban(["dlq", "replay", "/shop", "p", "none"])).code).toBe(1);
  expect((await shell.junban(["dlq", "drop", "/shop", "p", "--reason", "tried"])).code).toBe(1);
  expect(await store.listActions({ limit: 10 })).toMatchObject([
    { who: WHO, act: "drop", target: "/shop p", reason: "tried", result: "refused" },
    { who: WHO, act: "replay", target: "/shop none", result: "refused" },
    { who: WHO, act: "replay", target: "/shop p", result: "done", detail: "applied" },
  ]);
});

test("a lane that is freed, a subscriber that is forgotten, parked updates and a purge are on record as well", async () => {
  const lanes = createLanes({ redis: freshRedis().connect(), prefix: shell.prefix });
  onTestFinished(async () => lanes.close());
  await lanes.enter("A");
  expect((await shell.junban(["lane", "A", "--free", "--yes"])).code).toBe(0);
  const consumer = await consumeOrderUpdates(
    { redis: shell.redisUrl, prefix: shell.prefix, name: "billing" },
    async () => undefined,
  );
  await consumer.close({ deadlineMs: 2_000 });
  expect((await shell.junban(["updates", "forget", "billing", "--yes"])).code).toBe(0);
  expect((await shell.junban(["updates", "forget", "billing", "--yes"])).code).toBe(1);
  expect((await shell.junban(["parked", "retry", "17"])).code).toBe(1);
  await apply(
    [
      placed("A"),
      line("A", "cancel.requested", { cancelId: "x", scope: "order", reason: "test" }),
      line("A", "cancel.confirmed", { cancelId: "x" }),
    ],
    store,
  );
  expect((await shell.junban(["purge", "--older-than", "1ms", "--dry-run"])).code).toBe(0);
  expect((await shell.junban(["purge", "--older-than", "1ms", "--yes"])).code).toBe(0);
  const noted = await store.listActions({ limit: 10 });
  expect(noted.map(({ who, act, target, detail }) => [who, act, target, detail])).toEqual([
    [WHO, "purge", "finished orders that did not change for 1ms", "1 order purged."],
    [WHO, "give back", "parked update 17", "0 given back to the relay."],
    [WHO, "forget subscriber", "billing", "0 updates deleted."],
    [WHO, "free lane", expect.stringMatching(/^A, held by /u) as string, "It is free."],
  ]);
  const shown = await shell.junban(["acts", "--limit", "2"]);
  expect(shown.out).toMatch(
    /purge +finished orders that did not change for 1ms +– +done +1 order purged\.\n/u,
  );
  expect(shown.err).toBe("only the newest 2; see --limit\n");
  expect((await shell.junban(["acts", "--json"])).json()).toMatchObject({ acts: { length: 4 }, limit: 50 });
});

test("an event that Postgres still refuses is told as unchanged, with what to do and without the server's line", async () => {
  await sql("alter table orders add constraint nothing_placed check (version = 0)");
  await apply([placed("A", { id: "p" })], store);
  const run = await shell.junban(["dlq", "replay", "/shop", "p"]);
  expect(run.code).toBe(1);
  expect(run.out).toContain(
    "/shop p: nothing was changed: Postgres still refuses it: mend the cause and replay again (SQLSTATE 23514, nothing_placed, orders)",
  );
  expect(run.out + run.err).not.toContain("violates check constraint");
});

test("on a database that is older than the record the command acts all the same, and says that it is not on record", async () => {
  await haltAt("p");
  await sql("drop table operator_actions");
  const run = await shell.junban(["dlq", "replay", "/shop", "p"]);
  expect([run.code, run.out]).toEqual([0, expect.stringContaining("/shop p: applied")]);
  expect(run.err).toContain("not on record, since the database is older: run junban migrate");
});

test("what cannot be noted for another reason is not done", async () => {
  await haltAt("p");
  await sql("alter table operator_actions add constraint no_room check (who = '')");
  const run = await shell.junban(["dlq", "replay", "/shop", "p"]);
  expect(run.code).toBe(1);
  expect(run.err).toContain("this could not be noted in Postgres, so it was not done");
  expect(await store.readEvent({ source: "/shop", id: "p" })).toMatchObject({ outcome: "failed" });
});
