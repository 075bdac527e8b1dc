import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshDatabase } from "../support/index.ts";
import { expectSound, findingsOf } from "./picture.ts";
import { openShop, shopAt, type Shop } from "./shop.ts";
import { Story } from "./story.ts";
import { eventuallyBlocked } from "./traps.ts";

/** An order with something in every column: lines, used and voided refs, an open cancel, failures, a held event. */
function everything(lcid: string): ReturnType<Story["completed"]> {
  const story = new Story(lcid);
  return [
    story.placed({ L1: 4, L2: 2 }),
    story.authorized("a1", 600),
    story.captured("c1", "a1", 500),
    story.event("payment.voided", { voidId: "v1", authorizationId: "a1", amount: 60, reason: "voided" }),
    story.refunded("f1", "c1", 20),
    story.paymentFailed("refund", "f9"),
    story.reserved("r1", "L1", 3),
    story.released("x1", "r1", 1),
    story.event("inventory.short", { shortageId: "h1", lineId: "L2", quantity: 1 }),
    story.shipped("s1", { L1: 1 }),
    story.quantityChanged("q1", "L2", [2, 3]),
    story.event("cancel.requested", {
      cancelId: "k1",
      scope: "lines",
      items: [{ lineId: "L1", quantity: 1 }],
      reason: "x",
    }),
    story.cancelConfirmed("k1"),
    story.cancelRequested("k2"),
    story.captured("c2", "a7", 1),
    story.captured("c3", "a1", 9_999),
    story.authorized("a1", 600),
  ];
}

/** Columns that no history can speak for: times, who did it, and what only a person or a relay writes. */
const BEYOND_AUDIT: Readonly<Record<string, readonly string[]>> = {
  orders: ["created_at", "updated_at", "placed_at"],
  order_lines: [],
  order_refs: [],
  order_events: [
    "seq",
    "source",
    "event_id",
    "raw",
    "detail",
    "published_at",
    "decided_at",
    "first_decided_at",
    "deferred_until",
    "alert",
    "worker",
    "body_digest",
    "type",
    "reason",
  ],
  // A notice that a relay has taken away cannot be told from one that never was.
  outbox: ["id", "lcid", "payload", "created_at", "published_at"],
};

/** Which row of a table is tampered with. */
const ROWS: Readonly<Record<string, string>> = {
  orders: "lcid = 'O1'",
  order_lines: "lcid = 'O1' and line_id = 'L1'",
  order_refs: "lcid = 'O1' and kind = 'authorization' and ref = 'a1'",
  order_events: "lcid = 'O1' and outcome = 'applied' and version = 3",
  outbox: "lcid = 'O1' and version = 3",
};

const CHANGED: Readonly<Record<string, string>> = {
  boolean: "not $",
  bigint: "coalesce($, 0) + 1",
  integer: "coalesce($, 0) + 1",
  text: "coalesce($, '') || 'x'",
};

const OWN: Readonly<Record<string, string>> = {
  "orders.lcid": "'O7'",
  "order_lines.lcid": "'O7'",
  "order_refs.lcid": "'O7'",
  "order_events.lcid": "'O7'",
  "order_events.outcome": "'rejected', version = null",
  "order_events.version": "99",
  "outbox.version": "99",
  "order_events.arrival": "99",
  "order_events.event": `jsonb_set(event, '{data,amount}', '123')`,
  "order_refs.detail": `'{"scope":"order","items":[]}'`,
};

describe("each kind of tampering is found and named", () => {
  let shop: Shop;
  let close: () => Promise<void>;
  let columns: readonly { table: string; column: string; type: string }[];

  beforeAll(async () => {
    ({ shop, close } = await shopAt(await freshDatabase()));
    await shop.apply(everything("O1"));
    await shop.apply(everything("O2").map((event) => ({ ...event, id: `other ${event.id}` })));
    await expectSound(shop);
    columns = await shop.sql(
      `select table_name as table, column_name as column, data_type as type from information_schema.columns
       where table_schema = 'public' and table_name = any($1) order by 1, ordinal_position`,
      [Object.keys(ROWS)],
    );
    // Whoever tampers has no constraints in the way.
    await shop.sql("set session_replication_role = replica");
    const checks = await shop.sql<{ drop: string }>(
      `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop
       from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace`,
    );
    for (const { drop } of checks) await shop.sql(drop);
    await shop.sql("drop index order_events_by_arrival, outbox_unpublished");
  });
  afterAll(async () => close());

  /** Tampers for the time of one look, and puts back what was there. */
  async function lookWhile(table: string, change: string, where: string): Promise<string[]> {
    await shop.sql(`create temp table kept as select * from ${table}`);
    try {
      await shop.sql(`${change} where ${where}`);
      const findings = await findingsOf(shop);
      return findings.flatMap(({ lcid, differences }) => differences.map(({ field }) => `${lcid} ${field}`));
    } finally {
      await shop.sql(`delete from ${table}`);
      await shop.sql(`insert into ${table} overriding system value select * from kept`);
      await shop.sql("drop table kept");
    }
  }

  test("one changed column of any table, all of them in turn", async () => {
    const unseen: string[] = [];
    for (const { table, column, type } of columns) {
      if (BEYOND_AUDIT[table]!.includes(column)) continue;
      const name = `${table}.${column}`;
      const changed = OWN[name] ?? CHANGED[type]?.replaceAll("$", column);
      if (changed === undefined) throw new Error(`say how to change ${name}, a ${type}`);
      const found = await lookWhile(table, `update ${table} set ${column} = ${changed}`, ROWS[table]!);
      // A changed event is the history itself: then the rows differ from what it says now.
      const named = name === "order_events.event" ? " order" : ` ${table}`;
      if (!found.some((field) => field.includes(named))) unseen.push(`${name}: ${found.join(", ")}`);
    }
    expect(unseen).toEqual([]);
    expect(await findingsOf(shop)).toEqual([]);
  });

  test("a column that is beyond the audit really exists", () => {
    const names = new Set(columns.map(({ table, column }) => `${table}.${column}`));
    const beyond = Object.entries(BEYOND_AUDIT).flatMap(([table, list]) =>
      list.map((column) => `${table}.${column}`),
    );
    expect(beyond.filter((name) => !names.has(name))).toEqual([]);
  });

  test.each(["order_lines", "order_refs", "order_events"])("a row that is missing from %s", async (table) => {
    const found = await lookWhile(table, `delete from ${table}`, ROWS[table]!);
    expect(found).not.toEqual([]);
    expect(found.some((field) => field.startsWith("O1 "))).toBe(true);
  });

  test.each([
    ["order_lines", "line_id", "'L9'"],
    ["order_refs", "ref", "'a9'"],
    ["outbox", "version", "version + 100"],
  ])("a row too many in %s", async (table, column, value) => {
    const names = columns
      .filter((entry) => entry.table === table && entry.column !== "id")
      .map((entry) => entry.column);
    const values = names.map((name) => (name === column ? value : name));
    const found = await lookWhile(
      table,
      `insert into ${table} (${names.join(", ")}) select ${values.join(", ")} from ${table}`,
      ROWS[table]!,
    );
    expect(found.some((field) => field.startsWith(`O1 ${table}`))).toBe(true);
  });

  test("a held event that could be applied, and a halt without a reason", async () => {
    expect(await lookWhile("orders", "update orders set halted = true", "lcid = 'O1'")).toContain(
      "O1 orders.halted",
    );
    const applicable = await lookWhile(
      "order_events",
      `update order_events set outcome = 'deferred', version = null, reason = 'CAPTURE_NOT_SEEN'`,
      "lcid = 'O1' and outcome = 'rejected'",
    );
    expect(applicable).not.toEqual([]);
  });

  test("a history that cannot be folded is a finding, not a crash, and the other orders are still looked at", async () => {
    const found = await lookWhile(
      "order_events",
      `update order_events set event = '{"nonsense": true}'`,
      "lcid = 'O1' and version = 2",
    );
    expect(found.some((field) => field.startsWith("O1 order_events"))).toBe(true);
    const both = await lookWhile("orders", "update orders set version = version + 1", "true");
    expect(both).toEqual(expect.arrayContaining(["O1 orders.version", "O2 orders.version"]));
  });
});

test("what an audit need not look for, because Postgres refuses it: events and lines without their order", async () => {
  const shop = await openShop();
  await shop.apply([new Story("O1").placed()]);
  await expect(shop.sql("delete from orders")).rejects.toMatchObject({ code: "23503" });
  await expect(shop.sql("update orders set lcid = 'O2'")).rejects.toMatchObject({ code: "23503" });
});

describe("what an audit looks at", () => {
  test("all orders in ascending order by default, or those it is given; unknown ones have nothing to differ", async () => {
    const shop = await openShop();
    const lcids = ["C", "A", "B", "a", "B1"];
    for (const lcid of lcids) await shop.apply(new Story(lcid).completed());
    const seen: string[] = [];
    for await (const { lcid, differences } of shop.store.audit()) {
      seen.push(lcid);
      expect(differences).toEqual([]);
    }
    expect(seen).toEqual(["A", "B", "B1", "C", "a"]);
    const asked: string[] = [];
    for await (const { lcid } of shop.store.audit(["B", "a"])) asked.push(lcid);
    expect(asked.toSorted()).toEqual(["B", "a"]);
    for await (const { differences } of shop.store.audit(["nobody"])) expect(differences).toEqual([]);
  });

  test("rows and history of one moment, whatever happens between the reading of the two", async () => {
    const shop = await openShop();
    await shop.apply(everything("O1"));
    const admin = await shop.session();
    await admin.query("begin; lock table order_lines in access exclusive mode");
    const findings = findingsOf(shop);
    await eventuallyBlocked(shop);
    // The orders are read by now, their lines and events are not.
    for (const table of ["outbox", "order_lines", "order_refs", "order_events", "orders"]) {
      await admin.query(`delete from ${table}`);
    }
    await admin.query("commit");
    expect(await findings).toEqual([]);
  });

  test("an order that changes while it is audited is never reported as differing", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    await shop.apply([story.placed({ L1: 9_000 })]);
    const written = new AbortController();
    const writing = (async () => {
      for (let round = 0; round < 60; round += 1) {
        await shop.apply([story.reserved(`r${round}`, "L1", 1), story.sold(`c${round}`, 1)]);
      }
      written.abort();
    })();
    let audits = 0;
    while (!written.signal.aborted) {
      expect(await findingsOf(shop)).toEqual([]);
      audits += 1;
    }
    await writing;
    expect(audits).toBeGreaterThan(0);
  });
});
