import { expect, test } from "vitest";
import type { Database, DatabaseClient } from "../../packages/order-updates/src/index.ts";
import { withSession } from "../../packages/order-updates/src/session.ts";

/** A database whose every statement is answered by `answer`, and what became of its connections. */
function databaseThat(answer: (text: string) => Promise<void>): {
  database: Database;
  asked: string[];
  released: (boolean | undefined)[];
} {
  const asked: string[] = [];
  const released: (boolean | undefined)[] = [];
  const client: DatabaseClient = {
    query: async (text) => {
      asked.push(text);
      await answer(text);
      return { rows: [], rowCount: 0 };
    },
    on: () => undefined,
    off: () => undefined,
    release: (destroy) => released.push(destroy),
  };
  return { database: { connect: async () => client }, asked, released };
}

const never = async (): Promise<void> => new Promise(() => undefined);
const LIMIT_MS = 20;

test("a statement that is never answered fails in time, and its connection is destroyed", async () => {
  const { database, asked, released } = databaseThat(never);
  const work = withSession({ database, limitMs: LIMIT_MS }, async (session) => session.query("select 1"));
  await expect(work).rejects.toMatchObject({ code: "GUARD_UNAVAILABLE" });
  expect(asked).toEqual(["select 1"]);
  expect(released).toEqual([true]);
});

test("work that fails is rolled back, and its connection is given back", async () => {
  const { database, asked, released } = databaseThat(async () => {});
  const work = withSession({ database, limitMs: 60_000 }, async (session) => {
    await session.query("begin");
    throw new Error("no");
  });
  await expect(work).rejects.toThrow("no");
  expect(asked).toEqual(["begin", "rollback"]);
  expect(released).toEqual([false]);
});

test("a connection that cannot be rolled back is destroyed", async () => {
  const { database, released } = databaseThat(async (text) => {
    if (text === "rollback") throw new Error("connection lost");
  });
  const work = withSession({ database, limitMs: 60_000 }, async () => {
    throw new Error("no");
  });
  await expect(work).rejects.toThrow("no");
  expect(released).toEqual([true]);
});

test("a connection that comes too late is given back, and nobody waits for it", async () => {
  const { database, released } = databaseThat(async () => {});
  let arrive = (): void => undefined;
  const slow: Database = {
    connect: async () => {
      await new Promise<void>((resolve) => {
        arrive = resolve;
      });
      return database.connect();
    },
  };
  const work = withSession({ database: slow, limitMs: LIMIT_MS }, async () => undefined);
  await expect(work).rejects.toMatchObject({ code: "GUARD_UNAVAILABLE" });
  expect(released).toEqual([]);
  arrive();
  await new Promise(setImmediate);
  expect(released).toEqual([undefined]);
});
