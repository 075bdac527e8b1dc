import { expect, test } from "vitest";
import { GuardInPostgres } from "../../packages/order-updates/src/guard-in-postgres.ts";
import { eventually } from "../support/index.ts";
import { nameOf, openPool, openStation, effectsOf } from "./setting.ts";

const PATIENT = { gapWaitMs: 60_000 };

test("versions that come out of order are handled in order, without a gap", async () => {
  const station = openStation();
  const pool = await openPool();
  await station.send("A", 3, 1, 2);
  const seen = await station.onPostgres(pool, PATIENT);
  await eventually(async () => (await station.left()) === 0);
  expect(await effectsOf(pool)).toEqual(["A@1", "A@2", "A@3"]);
  expect(seen.gaps).toEqual([]);
  expect(seen.errors).toEqual([]);
});

test("a notice that comes again is skipped, and told", async () => {
  const station = openStation();
  const pool = await openPool();
  await station.send("A", 1, 2, 1, 2, 2);
  const seen = await station.onPostgres(pool, PATIENT);
  await eventually(async () => (await station.left()) === 0 && seen.skipped.length === 3);
  expect(await effectsOf(pool)).toEqual(["A@1", "A@2"]);
  expect(seen.consumer.counts()).toEqual({ handled: 2, gaps: 0, skipped: 3, failed: 0 });
  expect(seen.skipped.map(nameOf).toSorted()).toEqual(["A@1", "A@2", "A@2"]);
});

test("two consumers at once never run one order's handlers at once, and each version has one effect", async () => {
  const station = openStation();
  const pool = await openPool();
  const versions = Array.from({ length: 20 }, (_, index) => index + 1);
  const running = new Map<string, number>();
  let meetings = 0;
  const handler = async ({ lcid }: { lcid: string }): Promise<void> => {
    running.set(lcid, (running.get(lcid) ?? 0) + 1);
    if (running.get(lcid) !== 1) meetings += 1;
    await new Promise(setImmediate);
    running.set(lcid, (running.get(lcid) ?? 0) - 1);
  };
  await station.onPostgres(pool, PATIENT, handler);
  await station.onPostgres(pool, PATIENT, handler);
  await Promise.all(["A", "B"].map(async (lcid) => station.send(lcid, ...versions, ...versions)));
  await eventually(async () => (await station.left()) === 0, { withinMs: 40_000 });
  const effects = await effectsOf(pool);
  for (const lcid of ["A", "B"]) {
    expect(effects.filter((effect) => effect.startsWith(lcid))).toEqual(
      versions.map((version) => nameOf({ lcid, version })),
    );
  }
  expect(meetings).toBe(0);
});

test("a version that never came is a gap for the next one's handler, and is skipped when it comes after all", async () => {
  const station = openStation();
  const pool = await openPool();
  const given: unknown[] = [];
  const seen = await station.onPostgres(pool, { gapWaitMs: 200 }, async ({ gap }) => {
    given.push(gap);
  });
  await station.send("A", 1, 4);
  await eventually(() => seen.consumer.counts().handled === 2);
  expect(given).toEqual([null, { expected: 2, got: 4 }]);
  expect(seen.gaps).toEqual([{ expected: 2, got: 4 }]);
  await station.send("A", 2, 5);
  await eventually(() => seen.consumer.counts().handled === 3);
  expect(await effectsOf(pool)).toEqual(["A@1", "A@4", "A@5"]);
  expect(seen.skipped).toEqual([{ lcid: "A", version: 2, last: 4 }]);
});

test("a version waits while the handler of the one before fails, and nothing of a failed attempt stays", async () => {
  const station = openStation();
  const pool = await openPool();
  let failures = 3;
  const seen = await station.onPostgres(pool, PATIENT, async ({ version }) => {
    if (version !== 2 || failures === 0) return;
    failures -= 1;
    throw new Error("not today");
  });
  await station.send("A", 1, 2, 3);
  await eventually(() => seen.consumer.counts().handled === 3);
  expect(await effectsOf(pool)).toEqual(["A@1", "A@2", "A@3"]);
  expect(seen.gaps).toEqual([]);
  expect(seen.errors.map((error) => error.message)).toEqual(
    Array.from({ length: 3 }, () => "the handler failed at version 2 of A"),
  );
});

test("a version whose handler keeps failing is passed after a bounded time, with a gap that says so", async () => {
  const station = openStation();
  const pool = await openPool();
  const seen = await station.onPostgres(pool, { gapWaitMs: 300 }, async ({ version }) => {
    if (version === 2) throw new Error("never");
  });
  await station.send("A", 1, 2, 3);
  await eventually(async () => (await station.left()) === 0, { withinMs: 30_000 });
  expect(await effectsOf(pool)).toEqual(["A@1", "A@3"]);
  expect(seen.gaps).toEqual([{ expected: 2, got: 3 }]);
  expect(seen.skipped).toEqual([{ lcid: "A", version: 2, last: 3 }]);
});

test("each of two names sees every version", async () => {
  const station = openStation();
  const pool = await openPool();
  await station.onPostgres(pool, PATIENT);
  await station.onPostgres(pool, { ...PATIENT, name: "shipping" });
  await station.send("A", 1, 2, 3);
  await eventually(async () => (await station.left()) === 0 && (await station.left("shipping")) === 0);
  expect(await effectsOf(pool)).toEqual(["A@1", "A@2", "A@3"]);
  expect(await effectsOf(pool, "shipping")).toEqual(["A@1", "A@2", "A@3"]);
});

test("a handler that ends the transaction it was lent is told, and its version does not advance", async () => {
  const station = openStation();
  const pool = await openPool();
  const seen = await station.onPostgres(pool, PATIENT, async (_update, { transaction }) => {
    await transaction.query("rollback");
  });
  await station.send("A", 1);
  await eventually(() => seen.errors.length > 1);
  expect(seen.errors[0]).toMatchObject({ code: "TRANSACTION_ENDED" });
  expect(seen.consumer.counts().handled).toBe(0);
});

test("a handler that swallows a failed statement does not advance the version", async () => {
  const station = openStation();
  const pool = await openPool();
  const seen = await station.onPostgres(pool, PATIENT, async (_update, { transaction }) => {
    await transaction.query("select 1 / 0").catch(() => undefined);
  });
  await station.send("A", 1);
  await eventually(() => seen.errors.length > 1);
  expect(await effectsOf(pool)).toEqual([]);
  expect(seen.consumer.counts().handled).toBe(0);
});

test("without the guard's table nothing is handled, and the error names what to call", async () => {
  const station = openStation();
  const pool = await openPool();
  await pool.query("drop table order_updates_seen");
  const seen = await station.onPostgres(pool, PATIENT);
  await station.send("A", 1);
  await eventually(() => seen.errors.length > 0);
  expect(seen.errors[0]).toMatchObject({ code: "GUARD_TABLE_MISSING" });
  expect(seen.begun).toEqual([]);
});

test("closing waits for the handler under way, whose effect commits", async () => {
  const station = openStation();
  const pool = await openPool();
  const seen = await station.onPostgres(pool, PATIENT, async (_update, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  await station.send("A", 1);
  await eventually(() => seen.begun.length === 1);
  await Promise.all([seen.consumer.close(), seen.consumer.close()]);
  expect(await effectsOf(pool)).toEqual(["A@1"]);
  expect(await station.left()).toBe(0);
});

test("a job that names no order and version fails for good, and others flow", async () => {
  const station = openStation();
  const pool = await openPool();
  const seen = await station.onPostgres(pool, PATIENT);
  for (const data of [{ lcid: "A" }, { lcid: "{A}", version: 1 }, { lcid: "A", version: 0 }, "text"]) {
    await station.sendRaw(data);
  }
  await station.send("A", 1);
  await eventually(async () => seen.begun.length === 1 && (await station.left()) === 4);
  expect(await effectsOf(pool)).toEqual(["A@1"]);
});

test("while one consumer's handler is at an order, another's is not begun for it, even for the same version", async () => {
  const pool = await openPool();
  const open = (): GuardInPostgres =>
    new GuardInPostgres({ database: pool, name: "billing", gapWaitMs: 0, idleMs: 30_000 });
  const begun: string[] = [];
  await open().pass({ lcid: "A", version: 1 }, async () => {
    const other = await open().pass({ lcid: "A", version: 1 }, async () => {
      begun.push("other");
    });
    expect(other).toEqual({ kind: "busy" });
  });
  expect(begun).toEqual([]);
});
