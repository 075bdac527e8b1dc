import { createQueueReader } from "@junban/event-queues";
import {
  ActionRecord,
  dropAct,
  dropDead,
  failedAct,
  NotNotedError,
  replayAct,
  replayDead,
  type DeadAddress,
  type Fleet,
} from "@junban/operations";
import { createOrderStore, type OrderStore } from "@junban/order-store";
import { requestOf, type EventEnvelope } from "@junban/orders";
import { startProxy } from "@junban/sandbox";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { openFleet, type TestFleet } from "./fleet.ts";

const LETTER: DeadAddress = { kind: "event", source: "/shop", id: "paid" };
const TOLD = { told: (): string => "done" };

function event(id: string, type: string, data: object): EventEnvelope {
  return { specversion: "1.0", id, source: "/shop", type, lcid: "A", data };
}

async function apply(store: OrderStore, events: readonly EventEnvelope[]): Promise<void> {
  const requests = events.map((each) => ({ ...requestOf(each), publishedAtMs: Date.now() }));
  const [result] = await store.apply([{ lcid: "A", requests }]);
  expect(result?.trouble).toBeNull();
}

/** An order whose capture breaks a rule of the database, and a person who looks behind the fleet's back. */
async function poisoned(): Promise<{ fleet: TestFleet; sql: pg.Client }> {
  const fleet = await openFleet();
  const sql = new pg.Client({ connectionString: fleet.databaseUrl });
  await sql.connect();
  onTestFinished(async () => sql.end());
  await sql.query("alter table orders add constraint nothing_captured check (captured_minor = 0)");
  const lines = [{ lineId: "1", sku: "tea", quantity: 1, unitAmount: 500 }];
  const placed = event("p", "order.placed", { currency: "JPY", adjustment: 0, shipGate: "captured", lines });
  const captured = (id: string, captureId: string): EventEnvelope =>
    event(id, "payment.captured", { captureId, authorizationId: null, amount: 100, currency: "JPY" });
  await apply(fleet.store, [placed]);
  await apply(fleet.store, [captured("paid", "c-1")]);
  await apply(fleet.store, [captured("behind", "c-2")]);
  expect(await fleet.store.readOrder("A")).toMatchObject({ halted: true, version: 1 });
  return { fleet, sql };
}

async function acted(fleet: Fleet) {
  const record = new ActionRecord({ store: fleet.store });
  const end = await record.carryOut(
    { who: "olga", ...replayAct(LETTER) },
    () => replayDead(fleet, LETTER),
    TOLD,
  );
  const [noted] = await fleet.store.listActions({ limit: 1 });
  return { end, noted };
}

describe("an act that changed nothing says so, with what to do, and never in the server's own words", () => {
  test("the event is still poisoned", async () => {
    const { fleet } = await poisoned();
    const { end, noted } = await acted(fleet);
    expect(noted).toMatchObject({
      act: "replay",
      target: "/shop paid",
      result: "refused",
      detail:
        "Postgres still refuses it: mend the cause and replay again (SQLSTATE 23514, nothing_captured, orders)",
    });
    expect(end).toMatchObject({ kind: "failed", act: { changed: "nothing", isForAll: false } });
    expect(await fleet.store.readOrder("A")).toMatchObject({ halted: true, version: 1 });
  });

  test("another transaction holds the order's row", async () => {
    const { fleet, sql } = await poisoned();
    await sql.query("begin");
    await sql.query("select 1 from orders where lcid = 'A' for update");
    const { noted } = await acted(fleet);
    await sql.query("rollback");
    expect(noted).toMatchObject({
      result: "refused",
      detail: "the order is busy: try again (SQLSTATE 55P03)",
    });
  });

  test("Postgres went away before it was asked to commit, and the next act would fare no better", async () => {
    const { fleet } = await poisoned();
    const proxy = await startProxy({ url: fleet.databaseUrl });
    onTestFinished(async () => proxy.close());
    const store = createOrderStore({ databaseUrl: proxy.url, worker: "test", statementTimeoutMs: 700 });
    onTestFinished(async () => store.close());
    proxy.cut();
    const end = await replayDead({ ...fleet, store }, LETTER).then(
      () => null,
      (error: unknown) => failedAct(error),
    );
    expect(end).toEqual({
      changed: "nothing",
      says: "Postgres does not answer: try again once it does",
      isForAll: true,
    });
  });
});

test("an act whose COMMIT was sent and not answered is not certain, whether or not it counted", async () => {
  const { fleet, sql } = await poisoned();
  await sql.query("alter table orders drop constraint nothing_captured");
  const proxy = await startProxy({ url: fleet.databaseUrl });
  onTestFinished(async () => proxy.close());
  const store = createOrderStore({ databaseUrl: proxy.url, worker: "test", statementTimeoutMs: 700 });
  onTestFinished(async () => store.close());
  const isCommit = (chunk: Buffer): boolean => chunk.toString("latin1").toLowerCase().includes("commit\0");
  proxy.onData((direction, chunk) => (direction === "toServer" && isCommit(chunk) ? "cut" : "pass"));
  const error = await replayDead({ ...fleet, store }, LETTER).catch((thrown: unknown) => thrown);
  expect(failedAct(error)).toMatchObject({
    changed: "unknown",
    says: expect.stringContaining("when it was to commit") as string,
  });
  expect(await fleet.store.readOrder("A")).toMatchObject({ halted: true });
});

test("a step in Redis that was not answered is not certain; an order's lane that could not be entered is", async () => {
  const { fleet } = await poisoned();
  const proxy = await startProxy({ url: fleet.redisUrl });
  onTestFinished(async () => proxy.close());
  const queues = createQueueReader({ redis: proxy.url, prefix: fleet.prefix, timeoutMs: 300 });
  onTestFinished(async () => queues.close());
  proxy.cut();
  const letter: DeadAddress = { kind: "job", family: "payment", id: "j-1" };
  const error = await dropDead({ ...fleet, queues }, letter, { reason: "x" }).catch(
    (thrown: unknown) => thrown,
  );
  expect(failedAct(error, { inRedis: true })).toMatchObject({ changed: "unknown" });
  expect(failedAct(error)).toMatchObject({ changed: "nothing" });
});

test("an event that was decided while what it blocked was not: told as done in part", async () => {
  const { fleet, sql } = await poisoned();
  await sql.query("alter table orders drop constraint nothing_captured");
  await sql.query("alter table orders add constraint one_captured check (captured_minor <= 100)");
  const { end, noted } = await acted(fleet);
  expect(end).toMatchObject({ kind: "failed", act: { changed: "part" } });
  expect(noted).toMatchObject({
    result: "done",
    detail: expect.stringMatching(
      /the event was decided; what it blocked .*SQLSTATE 23514, one_captured/u,
    ) as string,
  });
  expect(await fleet.store.readOrder("A")).toMatchObject({ halted: true, version: 2, capturedMinor: 100 });
});

test("what is refused is told in our own words, on record with the reason that was given", async () => {
  const { fleet } = await poisoned();
  const record = new ActionRecord({ store: fleet.store });
  const letter: DeadAddress = { kind: "event", source: "/shop", id: "none" };
  const reason = "never came";
  await record.carryOut(
    { who: "olga", ...dropAct(letter, { reason }) },
    () => dropDead(fleet, letter, { reason }),
    TOLD,
  );
  expect(await fleet.store.listActions({ limit: 1 })).toMatchObject([
    { act: "drop", reason, result: "refused", detail: "no event none of /shop is on record" },
  ]);
});

test("what cannot be noted for another reason than an older database is not done", async () => {
  const { fleet, sql } = await poisoned();
  await sql.query("alter table operator_actions add constraint no_room check (who = '')");
  const record = new ActionRecord({ store: fleet.store, onOldSchema: () => undefined });
  let isDone = false;
  const work = async (): Promise<void> => {
    isDone = true;
  };
  const acting = record.carryOut({ who: "olga", ...replayAct(LETTER) }, work, TOLD);
  await expect(acting).rejects.toThrow(NotNotedError);
  expect(isDone).toBe(false);
});

describe("a database that is older than the record", () => {
  async function oldFleet(): Promise<TestFleet> {
    const { fleet, sql } = await poisoned();
    await sql.query("drop table operator_actions");
    return fleet;
  }

  test("and one in which a right is missing are told apart: the second names the right", () => {
    const cause = Object.assign(new Error("permission denied"), { code: "42501" });
    expect(new NotNotedError({ cause }).message).toMatch(/insert and update on operator_actions$/u);
    expect(new NotNotedError({ cause: new Error("gone") }).message).toMatch(/try again$/u);
  });

  test("is no place to act from, unless that is allowed", async () => {
    const fleet = await oldFleet();
    const record = new ActionRecord({ store: fleet.store });
    let isDone = false;
    const work = async (): Promise<void> => {
      isDone = true;
    };
    const acting = record.carryOut({ who: "olga", ...replayAct(LETTER) }, work, TOLD);
    await expect(acting).rejects.toThrow(NotNotedError);
    expect(isDone).toBe(false);
  });

  test("has the act carried out all the same where that is allowed, and says that it is not on record", async () => {
    const fleet = await oldFleet();
    let told = 0;
    const record = new ActionRecord({
      store: fleet.store,
      onOldSchema: () => {
        told += 1;
      },
    });
    const end = await record.carryOut({ who: "olga", ...replayAct(LETTER) }, async () => "decided", TOLD);
    expect(end).toEqual({ kind: "done", id: null, result: "decided" });
    expect(told).toBe(1);
  });
});
