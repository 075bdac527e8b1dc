import { expect, test } from "vitest";
import { GuardInPostgres } from "../../packages/order-updates/src/guard-in-postgres.ts";
import { HandlerFailedError, readOrderUpdatesBacklog } from "../../packages/order-updates/src/index.ts";
import type { Transaction } from "../../packages/order-updates/src/index.ts";
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
  expect(seen.consumer.counts()).toEqual({ handled: 2, gaps: 0, skipped: 3, failed: 0, unusable: 0 });
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

test("a version whose handler keeps failing holds up those behind it, and no other order", async () => {
  const station = openStation();
  const pool = await openPool();
  let isWell = false;
  const seen = await station.onPostgres(pool, PATIENT, async ({ lcid, version }) => {
    if (lcid === "A" && version === 2 && !isWell) throw new Error("not yet");
  });
  await station.send("A", 1, 2, 3);
  await eventually(() => seen.consumer.counts().failed >= 5, { withinMs: 40_000 });
  await station.send("B", 1);
  await eventually(async () => (await effectsOf(pool)).includes("B@1"));
  expect(seen.begun).not.toContain("A@3");
  isWell = true;
  await eventually(async () => (await station.left()) === 0, { withinMs: 40_000 });
  expect((await effectsOf(pool)).filter((effect) => effect !== "B@1")).toEqual(["A@1", "A@2", "A@3"]);
  expect(seen.gaps).toEqual([]);
});

test("versions wait anew once the missing one has come, although its handler fails then", async () => {
  const pool = await openPool();
  const guard = new GuardInPostgres({ database: pool, name: "billing", gapWaitMs: 60_000, limitMs: 30_000 });
  const act = async (): Promise<void> => {};
  const waitLong = async (): Promise<unknown> =>
    pool.query("update order_updates_seen set waiting_since = waiting_since - interval '1 hour'");
  const failing = async (): Promise<void> => {
    throw new HandlerFailedError({ lcid: "A", version: 1 }, { cause: new Error("not yet") });
  };
  expect(await guard.pass({ lcid: "A", version: 2 }, act)).toEqual({ kind: "waiting", missing: 1 });
  await waitLong();
  await expect(guard.pass({ lcid: "A", version: 1 }, failing)).rejects.toThrow(HandlerFailedError);
  expect(await guard.pass({ lcid: "A", version: 2 }, act)).toEqual({ kind: "waiting", missing: 1 });
  await waitLong();
  expect(await guard.pass({ lcid: "A", version: 2 }, act)).toEqual({
    kind: "handled",
    gap: { expected: 1, got: 2 },
  });
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

test("a transaction that a handler keeps reaches nothing once the handler is over", async () => {
  const station = openStation();
  const pool = await openPool();
  const kept: Transaction[] = [];
  const seen = await station.onPostgres(pool, PATIENT, async (_update, { transaction }) => {
    kept.push(transaction);
  });
  await station.send("A", 1);
  await eventually(() => seen.consumer.counts().handled === 1);
  await expect(kept[0]?.query("select 1")).rejects.toMatchObject({ code: "TRANSACTION_ENDED" });
});

test("what a deferred constraint refuses is the handler's failure, and its version does not advance", async () => {
  const station = openStation();
  const pool = await openPool();
  await pool.query("create table once (a int unique deferrable initially deferred)");
  const seen = await station.onPostgres(pool, PATIENT, async (_update, { transaction }) => {
    await transaction.query("insert into once values (1), (1)");
  });
  await station.send("A", 1);
  await eventually(() => seen.errors.length > 1);
  expect(seen.errors[0]).toMatchObject({ code: "TRANSACTION_ENDED", cause: { code: "23505" } });
  expect(await effectsOf(pool)).toEqual([]);
});

test("a handler that swallows a failed statement does not advance the version", async () => {
  const station = openStation();
  const pool = await openPool();
  const seen = await station.onPostgres(pool, PATIENT, async (_update, { transaction }) => {
    await transaction.query("select 1 / 0").catch(() => undefined);
  });
  await station.send("A", 1);
  await eventually(() => seen.errors.length > 1);
  expect(seen.errors[0]).toMatchObject({ code: "TRANSACTION_ENDED", cause: { code: "25P02" } });
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

test("a job that names no order and version fails for good, is told and kept, and others flow", async () => {
  const station = openStation();
  const pool = await openPool();
  const seen = await station.onPostgres(pool, PATIENT);
  for (const data of [{ lcid: "A" }, { lcid: "{A}", version: 1 }, { lcid: "A", version: 0 }, "text"]) {
    await station.sendRaw(data);
  }
  await station.send("A", 1);
  await eventually(async () => {
    const { names } = await readOrderUpdatesBacklog({ redis: station.url, prefix: station.prefix });
    expect(names).toMatchObject([{ name: "billing", waiting: 0, failed: 4 }]);
    expect(seen.consumer.counts()).toMatchObject({ handled: 1, unusable: 4 });
  });
  expect(await effectsOf(pool)).toEqual(["A@1"]);
  expect(seen.errors.map((error) => "code" in error && error.code)).toEqual(
    Array.from({ length: 4 }, () => "UNUSABLE_UPDATE"),
  );
});

test("while one consumer's handler is at an order, another's is not begun for it, even for the same version", async () => {
  const pool = await openPool();
  const open = (): GuardInPostgres =>
    new GuardInPostgres({ database: pool, name: "billing", gapWaitMs: 0, limitMs: 30_000 });
  const begun: string[] = [];
  let other: unknown;
  await open().pass({ lcid: "A", version: 1 }, async () => {
    other = await open().pass({ lcid: "A", version: 1 }, async () => {
      begun.push("other");
    });
  });
  expect(other).toEqual({ kind: "busy" });
  expect(begun).toEqual([]);
});
