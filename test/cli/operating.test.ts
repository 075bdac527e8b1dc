import { createOrderStore, openOutbox, type OrderStore } from "@junban/order-store";
import { readEnvelopeText, requestOf } from "@junban/orders";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { authorized, line, openShell, placed, type Shell } from "./junban.ts";

describe("looking at orders and putting them right", () => {
  let shell: Shell;
  let store: OrderStore;

  beforeEach(async () => {
    shell = await openShell();
    store = createOrderStore({ databaseUrl: shell.databaseUrl, worker: "test" });
  });
  afterEach(async () => {
    await store.close();
  });

  async function apply(lcid: string, lines: readonly string[], from: OrderStore = store): Promise<void> {
    const requests = lines.map((text) => {
      const reading = readEnvelopeText(text);
      if (reading.kind === "unusable") throw new Error(reading.rule);
      return { ...requestOf(reading.envelope), publishedAtMs: Date.now() };
    });
    const [result] = await from.apply([{ lcid, requests }]);
    expect(result?.trouble).toBeNull();
  }

  const captured = (lcid: string, captureId: string, authorizationId: string | null): string =>
    line(
      lcid,
      "payment.captured",
      { captureId, authorizationId, amount: 1_000, currency: "JPY" },
      { id: captureId },
    );

  test("parked lists what the relay could not pass on, and retry gives it back in its old place", async () => {
    await apply("A", [placed("A"), captured("A", "c-1", null)]);
    const outbox = openOutbox({ databaseUrl: shell.databaseUrl, worker: "test" });
    try {
      const lead = await outbox.lead();
      const [first] = (await lead?.next({ passedOn: [], limit: 1 })) ?? [];
      const id = first?.id ?? 0;
      await lead?.park({ id, reason: "nobody wants it" });

      const listed = await shell.junban(["parked"]);
      expect(listed.code).toBe(0);
      expect(listed.out).toMatch(new RegExp(`${id} +A +1 +\\S+ +nobody wants it`, "u"));
      expect((await shell.junban(["parked", "retry", String(id), "999999"])).code).toBe(1);
      expect((await shell.junban(["parked", "--json"])).json()).toMatchObject({ parked: [] });
      const again = (await lead?.next({ passedOn: [], limit: 5 })) ?? [];
      expect(again.map(({ version }) => version)).toEqual([1, 2]);
      expect((await shell.junban(["parked", "retry"])).code).toBe(2);
    } finally {
      await outbox.close();
    }
  });

  test("parked drop deletes one, on record with its reason, and no other; nobody does so by mistake", async () => {
    const pool = new pg.Pool({ connectionString: shell.databaseUrl, max: 1 });
    try {
      await pool.query(
        `insert into outbox_parked (id, lcid, version, payload, created_at, reason)
         values (7, 'A', 3, '{}', now(), 'too large'), (8, 'A', 4, '{}', now(), 'too large')`,
      );
      expect((await shell.junban(["parked", "drop", "7"])).code).toBe(2);
      const unasked = await shell.junban(["parked", "drop", "7", "--reason", "told"]);
      expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining("version 3 of A")]);
      const args = ["parked", "drop", "7", "--reason", "told by hand", "--yes"];
      expect(await shell.junban(args)).toMatchObject({ code: 0, out: "7 is deleted\n" });
      expect(await shell.junban(args)).toMatchObject({ code: 1, err: "not parked: 7\n" });
      expect((await store.listParked({ limit: 10 })).map(({ id }) => id)).toEqual([8]);
      expect(await store.listActions({ limit: 10 })).toMatchObject([
        { act: "drop", target: "parked update 7, version 3 of A", reason: "told by hand", result: "done" },
      ]);
    } finally {
      await pool.end();
    }
  });

  test("parked retry --all goes through all of them in portions; what stands in the outbox already stays, and is told", async () => {
    const pool = new pg.Pool({ connectionString: shell.databaseUrl, max: 1 });
    try {
      await pool.query("insert into outbox (lcid, version, payload) values ('A', 1500, '{}')");
      await pool.query(
        `insert into outbox_parked (id, lcid, version, payload, created_at, reason)
         select 10000 + version, 'A', version, '{}', now(), 'nobody wants it' from generate_series(1, 2500) as given(version)`,
      );

      const run = await shell.junban(["parked", "retry", "--all"]);

      expect(run.code).toBe(1);
      expect(run.out).toContain("2,499 given back to the relay");
      expect(run.err).toContain("1,000 given back so far");
      expect(run.err).toMatch(/still parked, since the outbox holds the same version already: 11500$/mu);
      const { rows } = await pool.query("select id::int from outbox_parked");
      expect(rows).toEqual([{ id: 11_500 }]);
      expect((await shell.junban(["parked", "retry", "11500", "--json"])).json()).toEqual({
        retried: [],
        standing: [11_500],
        missing: [],
      });
    } finally {
      await pool.end();
    }
  });

  test("order shows statuses, money, lines and, when asked, the history", async () => {
    await apply("A", [placed("A"), captured("A", "c-1", null)]);
    const run = await shell.junban(["order", "A", "--history"]);
    expect(run.code).toBe(0);
    for (const words of [/status +confirmed/u, /captured +1,000 JPY/u, /l-1 +tea/u, /order\.placed/u]) {
      expect(run.out).toMatch(words);
    }
    const asJson = await shell.junban(["order", "A", "--history", "--json"]);
    expect(asJson.json()).toMatchObject({
      status: "confirmed",
      version: 2,
      history: [{ outcome: "applied" }, { outcome: "applied" }],
    });
  });

  test("event tells one event's outcome by source and id", async () => {
    await apply("A", [placed("A"), captured("A", "c-1", null)]);
    expect((await shell.junban(["event", "/shop", "c-1", "--json"])).json()).toMatchObject({
      outcome: "applied",
      lcid: "A",
      version: 2,
    });
  });

  test("an event is found by its id alone; of several each is listed with its source", async () => {
    const [source, id] = ["/payments", "c-1"];
    await apply("A", [placed("A", { source, id }), captured("A", "c-2", null)]);
    expect((await shell.junban(["event", "c-2"])).out).toMatch(/event +\/shop c-2\n/u);
    await apply("B", [placed("B"), captured("B", "c-1", null)]);
    const run = await shell.junban(["event", "c-1"]);
    expect(run.out).toMatch(/applied +A +order\.placed +\/payments +c-1/u);
    expect(run.out).toMatch(/applied +B +payment\.captured +\/shop +c-1/u);
    expect((await shell.junban(["event", "c-1", "--json"])).json()).toMatchObject({
      events: expect.arrayContaining([expect.objectContaining({ source, id })]) as unknown,
    });
    const none = await shell.junban(["event", "c-3"]);
    expect([none.code, none.err]).toEqual([1, expect.stringMatching(/^no event c-3 is on record: /u)]);
  });

  test("held lists what waits, and --due-within narrows it", async () => {
    await apply("A", [placed("A"), captured("A", "c-1", "a-1")]);
    expect((await shell.junban(["held"])).out).toContain("AUTHORIZATION_NOT_SEEN");
    expect((await shell.junban(["held", "--due-within", "1h"])).out).toBe(
      "nothing is due within 1h (1 held)\n",
    );
    expect((await shell.junban(["held", "--due-within", "100h", "--json"])).json()).toMatchObject({
      held: [{ id: "c-1" }],
    });
  });

  test("audit ends with 0 while rows and history agree, and with 1 naming the drift when they do not", async () => {
    await apply("A", [placed("A"), captured("A", "c-1", null)]);
    expect((await shell.junban(["audit"])).code).toBe(0);
    const drifted = createOrderStore({
      databaseUrl: shell.databaseUrl,
      worker: "test",
      // A decision that books nothing: history and rows then tell different stories.
      decide: (order) => ({
        kind: "applied",
        change: { totals: { ...order.totals, version: order.totals.version + 1 }, lines: [], refs: [] },
      }),
    });
    await apply("A", [authorized("A", "a-1")], drifted);
    await drifted.close();
    const run = await shell.junban(["audit", "--json"]);
    expect(run.code).toBe(1);
    expect(run.json()).toMatchObject({ drift: 1, drifted: [{ lcid: "A" }] });
    expect((await shell.junban(["audit"])).out).toMatch(
      /A: orders\.authorized_minor is 1000; its history gives 2000/u,
    );
  });

  test("dlq lists a failed event; replay decides it and what it blocked, in their order", async () => {
    const failing = createOrderStore({
      databaseUrl: shell.databaseUrl,
      worker: "test",
      decide: () => {
        throw new Error("boom");
      },
    });
    await apply("A", [placed("A", { id: "p" })], failing);
    await failing.close();
    await apply("A", [authorized("A", "a-1"), captured("A", "c-1", "a-1")]);
    const listed = await shell.junban(["dlq"]);
    expect(listed.out).toMatch(/failed +A +order\.placed +\/shop +p +DECISION_FAILED/u);
    const halted = await shell.junban(["order", "A"]);
    expect(halted.out).toMatch(/^FAILED order\.placed \/shop p: DECISION_FAILED/mu);
    expect(halted.out).toMatch(/payment\.captured +\/shop +c-1 +the failed event \(BLOCKED\)/u);
    const replayed = await shell.junban(["dlq", "replay", "/shop", "p"]);
    expect(replayed.code).toBe(0);
    expect(replayed.out).toContain("applied; 2 blocked events decided after it");
    expect((await shell.junban(["order", "A", "--json"])).json()).toMatchObject({
      status: "confirmed",
      version: 3,
      halted: false,
    });
  });

  test("dlq replay --all takes every failed event, and says so when there is none", async () => {
    const run = await shell.junban(["dlq", "replay", "--all", "--yes", "--json"]);
    expect(run.code).toBe(0);
    expect(run.json()).toEqual({ replayed: 0, results: [] });
    expect(await shell.junban(["dlq", "replay", "--all", "--reason", "TYPO", "--yes"])).toMatchObject({
      code: 1,
      err: "no dead letter has the reason TYPO\n",
    });
  });

  test("dlq replay --all that leaves some for the next time says so, and ends with 1", async () => {
    const failing = createOrderStore({
      databaseUrl: shell.databaseUrl,
      worker: "test",
      decide: () => {
        throw new Error("boom");
      },
    });
    for (const lcid of ["A", "B", "C"]) await apply(lcid, [placed(lcid, { id: lcid })], failing);
    await failing.close();
    const first = await shell.junban(["dlq", "replay", "--all", "--yes", "--limit", "2", "--json"]);
    expect(first.code).toBe(1);
    expect(first.err).toContain("there are more than 2; run it again for the rest");
    expect(first.json()).toMatchObject({ replayed: 2, results: [{ id: "B" }, { id: "C" }] });
    const rest = await shell.junban(["dlq", "replay", "--all", "--yes", "--limit", "2", "--json"]);
    expect(rest.code).toBe(0);
    expect(rest.json()).toMatchObject({ replayed: 1, results: [{ id: "A" }] });
  });

  test("dlq replay refuses an event that is applied or unknown, with exit 1 and the reason", async () => {
    await apply("A", [placed("A", { id: "p" })]);
    const run = await shell.junban(["dlq", "replay", "/shop", "p", "unknown"]);
    expect(run.code).toBe(1);
    expect(run.out).toMatch(/\/shop p: nothing was changed: already applied \(version 1\)/u);
    expect(run.out).toMatch(/\/shop unknown: nothing was changed: no event unknown of \/shop is on record/u);
  });

  test("dlq drop needs a reason, keeps it, and acknowledges the alert of a rejected event", async () => {
    await apply("A", [
      placed("A"),
      authorized("A", "a-1"),
      line(
        "A",
        "payment.captured",
        { captureId: "c", authorizationId: "a-1", amount: 2_000, currency: "JPY" },
        { id: "over" },
      ),
    ]);
    expect((await shell.junban(["order", "A"])).out).toContain(
      "ALERT payment.captured /shop over: OVER_CAPTURE",
    );
    expect((await shell.junban(["dlq", "--alerts"])).out).toMatch(/over +OVER_CAPTURE +open /u);
    expect((await shell.junban(["dlq", "--alerts", "--failed"])).code).toBe(2);
    expect(await shell.junban(["dlq", "--reason", "over_capture"])).toMatchObject({
      code: 0,
      out: "no dead letters\n",
      err: "reasons are written in capitals; dead letters have these: OVER_CAPTURE\n",
    });
    expect((await shell.junban(["dlq", "drop", "/shop", "over"])).code).toBe(2);
    expect(await shell.junban(["dlq", "drop", "/shop", "over", "--reason", "settled by hand"])).toMatchObject(
      {
        code: 0,
        out: "/shop over: acknowledged\n",
      },
    );
    expect((await shell.junban(["order", "A"])).out).not.toContain("ALERT");
    expect((await shell.junban(["event", "/shop", "over", "--json"])).json()).toMatchObject({
      alert: false,
      detail: "acknowledged: settled by hand",
    });
    expect(await shell.junban(["dlq", "drop", "/shop", "over", "--reason", "once more"])).toMatchObject({
      code: 1,
      out: "/shop over: nothing was changed: already acknowledged; the reason that was given first stands\n",
    });
    expect((await shell.junban(["dlq", "--alerts"])).out).toBe("no open alerts\n");
  });

  test("purge deletes finished orders only, and a dry run none", async () => {
    await apply("DONE", [
      placed("DONE"),
      line("DONE", "cancel.requested", { cancelId: "x", scope: "order", reason: "test" }),
      line("DONE", "cancel.confirmed", { cancelId: "x" }),
    ]);
    await apply("OPEN", [placed("OPEN")]);
    expect((await shell.junban(["purge", "--older-than", "1ms", "--dry-run", "--json"])).json()).toEqual({
      found: 1,
      purged: 0,
    });
    expect((await shell.junban(["purge", "--older-than", "1ms", "--yes", "--json"])).json()).toEqual({
      found: 1,
      purged: 1,
    });
    expect(await store.readOrder("DONE")).toBeNull();
    const purged = /^DONE was finished, and purged on \d{4}-\S+Z: its events are gone/mu;
    const order = await shell.junban(["order", "DONE"]);
    expect([order.code, purged.test(order.err)]).toEqual([1, true]);
    const audit = await shell.junban(["audit", "DONE", "OPEN", "NONE"]);
    expect([audit.code, purged.test(audit.out)]).toEqual([1, true]);
    expect(audit.out).toContain("NONE: no such order");
    expect((await shell.junban(["audit", "DONE", "--json"])).json()).toMatchObject({
      missing: [],
      purged: [{ lcid: "DONE" }],
    });
    expect((await shell.junban(["event", "/shop", "e-1"])).err).toContain("or its order was purged");
    expect(await store.readOrder("OPEN")).not.toBeNull();
  });

  test("wait-idle ends with 0 at once when nothing is left, and with 1 naming what is left otherwise", async () => {
    expect((await shell.junban(["wait-idle", "--timeout", "10s"])).code).toBe(0);
    await shell.junban(["publish", "-"], { input: placed("A") });
    const run = await shell.junban(["wait-idle", "--timeout", "500ms"]);
    expect(run.code).toBe(1);
    expect(run.err).toContain("1 job waiting");
  });

  test("status is one document with --json and says what waits where", async () => {
    await shell.junban(["publish", "-"], { input: [placed("A"), authorized("A", "a-1")].join("\n") });
    expect((await shell.junban(["status"])).out).toMatch(/jobs waiting +lease left +turns lost/u);
    expect((await shell.junban(["status", "--json"])).json()).toMatchObject({
      workers: 0,
      backlog: { payment: { waiting: 1 }, "line-item": { waiting: 1 } },
      lanes: { busy: 1, requests: 2, deepest: [{ lcid: "A", depth: 2 }] },
    });
  });

  test("what came from outside cannot move the terminal's cursor", async () => {
    await apply("A", [
      placed("A", { type: "order.placed" }),
      line("A", "x\u009bevil", {}, { id: "odd" }),
    ]).catch(() => undefined);
    const run = await shell.junban(["event", "/shop\u001b[2J", "odd"]);
    expect(run.err + run.out).not.toContain("\u001b[2J");
  });
});
