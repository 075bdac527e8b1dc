import { describe, expect, test } from "vitest";
import { expectSound, wholeOf } from "./picture.ts";
import { applyTo, openShop, wordsOf, type Shop } from "./shop.ts";
import { batchOf, Story } from "./story.ts";
import { closedGate, eventuallyBlocked } from "./traps.ts";

const PATIENT = { lockTimeoutMs: 20_000, statementTimeoutMs: 20_000, idleTransactionTimeoutMs: 20_000 };
const CHILD = `insert into order_lines (lcid, line_id, sku, added_quantity, quantity, peak, unit_amount_minor)
  values ('O1', 'child', 'sku', 1, 1, 1, 1)`;

async function openWithCompleted(): Promise<{ shop: Shop; story: Story }> {
  const shop = await openShop(PATIENT);
  const story = new Story("O1");
  await shop.apply(story.completed());
  expect(await shop.store.readOrder("O1")).toMatchObject({ status: "completed" });
  return { shop, story };
}

describe("purge takes FOR UPDATE from the start", () => {
  test("before it deletes anything, a row that references the order already has to wait", async () => {
    const { shop } = await openWithCompleted();
    const admin = await shop.session();
    await admin.query("begin; lock table order_refs in access exclusive mode");
    const purging = shop.store.purgeOne("O1");
    await eventuallyBlocked(shop);
    const writer = await shop.session({ lockTimeoutMs: 150 });
    await expect(writer.query(CHILD)).rejects.toMatchObject({ code: "55P03" });
    await expect(
      writer.query("select from orders where lcid = 'O1' for key share nowait"),
    ).rejects.toMatchObject({ code: "55P03" });
    await admin.query("rollback");
    expect(await purging).toBe(true);
    await expect(writer.query(CHILD)).rejects.toMatchObject({ code: "23503" });
  });

  test("it never upgrades: while a referencing row is under way it holds nothing weaker", async () => {
    const { shop } = await openWithCompleted();
    const writer = await shop.session();
    await writer.query(`begin; ${CHILD}`);
    const purging = shop.store.purgeOne("O1");
    await eventuallyBlocked(shop);
    const onlooker = await shop.session({ lockTimeoutMs: 150 });
    // FOR NO KEY UPDATE goes along with the writer's key share, so it is free unless the purge has taken it.
    await onlooker.query("begin; select from orders where lcid = 'O1' for no key update nowait; rollback");
    await writer.query("rollback");
    expect(await purging).toBe(true);
  });

  test("negative control: a purge that upgraded would be seen, and would deadlock with another one like it", async () => {
    const { shop } = await openWithCompleted();
    const [writer, upgrader, onlooker] = [await shop.session(), await shop.session(), await shop.session()];
    await writer.query(`begin; ${CHILD}`);
    await upgrader.query("begin; select from orders where lcid = 'O1' for no key update");
    const upgrading = upgrader.query("select from orders where lcid = 'O1' for update");
    await eventuallyBlocked(shop);
    await expect(
      onlooker.query("select from orders where lcid = 'O1' for no key update nowait"),
    ).rejects.toMatchObject({ code: "55P03" });
    await writer.query("rollback");
    await upgrading;
    await upgrader.query("rollback");
  });

  test("it gives up at lock_timeout behind a transition, and leaves the order as it is", async () => {
    const { shop, story } = await openWithCompleted();
    const gate = await closedGate(shop, { table: "outbox", on: "insert" });
    const applying = shop.apply([story.refunded("f1", "c1", 1)]);
    await gate.occupied();
    const before = await wholeOf(shop);
    const hasty = shop.openStore({ lockTimeoutMs: 150 });
    await expect(hasty.purgeOne("O1")).rejects.toMatchObject({ code: "55P03" });
    expect(await wholeOf(shop)).toEqual(before);
    await gate.open();
    await applying;
    await expectSound(shop);
  });
});

describe("what is purged, and what stays", () => {
  test("a purged order leaves its tombstone and no event, line or ref; other orders are untouched", async () => {
    const { shop } = await openWithCompleted();
    const other = new Story("O2");
    await shop.apply(other.completed());
    expect(await shop.store.purgeable({ olderThanMs: 0, limit: 10 })).toEqual(["O1", "O2"]);
    expect(await shop.store.purgeable({ olderThanMs: 0, limit: 10, after: "O1" })).toEqual(["O2"]);
    expect(await shop.store.purgeable({ olderThanMs: 3_600_000, limit: 10 })).toEqual([]);
    expect(await shop.store.purgeOne("O1")).toBe(true);
    for (const table of ["orders", "order_lines", "order_refs", "order_events"]) {
      expect(await shop.sql(`select distinct lcid from ${table}`)).toEqual([{ lcid: "O2" }]);
    }
    expect(await shop.sql("select lcid from purged_orders")).toEqual([{ lcid: "O1" }]);
    expect(await shop.store.purgeOne("O1")).toBe(false);
    expect(await shop.store.readOrder("O1")).toBeNull();
    await expectSound(shop);
  });

  test("what the relay has not published yet outlives its order", async () => {
    const { shop } = await openWithCompleted();
    await shop.sql("update outbox set published_at = now() where version <= 3");
    await shop.store.purgeOne("O1");
    expect(await shop.sql("select version from outbox where published_at is null order by version")).toEqual([
      { version: 4 },
      { version: 5 },
    ]);
  });

  test("later events of a purged order are rejected ORDER_PURGED, repeats included, and make no new order", async () => {
    const { shop, story } = await openWithCompleted();
    await shop.store.purgeOne("O1");
    const before = await wholeOf(shop);
    const again = new Story("O1");
    const events = [...again.completed(), story.sold("c9"), story.event("payment.teleported", {})];
    const result = await shop.apply(events);
    expect(result.trouble).toBeNull();
    expect(wordsOf(result).map((words) => words.replace("again ", ""))).toEqual(
      events.map(() => "rejected ORDER_PURGED"),
    );
    expect(await wholeOf(shop)).toEqual(before);
  });

  test("a purged order in a group does not disturb the other lanes", async () => {
    const { shop, story } = await openWithCompleted();
    await shop.store.purgeOne("O1");
    const others = ["N1", "P2"].map((lcid) => new Story(lcid));
    const results = await shop.store.apply([
      batchOf("N1", [others[0]!.placed()]),
      batchOf("O1", [story.sold("c9"), story.placed()]),
      batchOf("P2", [others[1]!.placed(), others[1]!.sold("c1")]),
    ]);
    expect(results.map(wordsOf)).toEqual([
      ["applied 1"],
      ["rejected ORDER_PURGED", "rejected ORDER_PURGED"],
      ["applied 1", "applied 2"],
    ]);
    await expectSound(shop);
  });

  test.each([
    ["open", (story: Story) => [story.placed(), story.sold("c1")]],
    [
      "cancelled with money still to be paid back",
      (story: Story) => [...story.cancelled(), story.sold("c1")],
    ],
    [
      "cancelled with stock still to be released",
      (story: Story) => [...story.cancelled(), story.reserved("r1")],
    ],
    ["completed with an event held", (story: Story) => [...story.completed(), story.refunded("f1", "c7", 1)]],
    [
      "cancelled with an alert that nobody acknowledged",
      (story: Story) => [...story.cancelled(), story.shipped("s1")],
    ],
    ["not placed yet", (story: Story) => [story.sold("c1")]],
  ])("an order that is %s stays", async (_state, events) => {
    const shop = await openShop();
    await shop.apply(events(new Story("O1")));
    const before = await wholeOf(shop);
    expect(await shop.store.purgeable({ olderThanMs: 0, limit: 10 })).toEqual([]);
    expect(await shop.store.purgeOne("O1")).toBe(false);
    expect(await wholeOf(shop)).toEqual(before);
  });

  test("a purge that fails half-way leaves the order whole", async () => {
    const { shop } = await openWithCompleted();
    const before = await wholeOf(shop);
    await shop.sql(`create function refuse() returns trigger language plpgsql as $$ begin
      raise exception 'not today' using errcode = 'XX000'; end $$`);
    for (const table of ["order_lines", "order_refs", "order_events", "orders"]) {
      await shop.sql(
        `create trigger refuse before delete on ${table} for each row execute function refuse()`,
      );
      await expect(shop.store.purgeOne("O1")).rejects.toMatchObject({ code: "XX000" });
      await shop.sql(`drop trigger refuse on ${table}`);
      expect(await wholeOf(shop)).toEqual(before);
    }
    expect(await shop.store.purgeOne("O1")).toBe(true);
  });
});

describe("purge and apply at the same time", () => {
  test.each([
    ["alone", ["O1"]],
    ["in a group", ["N1", "O1", "P1"]],
  ])("an apply that waited behind a purge starts again: %s", async (_how, lcids) => {
    const { shop } = await openWithCompleted();
    const gate = await closedGate(shop, { table: "orders", on: "delete" });
    const purging = shop.store.purgeOne("O1");
    await gate.occupied();
    const batches = lcids.map((lcid) =>
      batchOf(lcid, [new Story(lcid).placed({ L1: 1 }, { id: `new ${lcid}` })]),
    );
    const applying = shop.store.apply(batches);
    await eventuallyBlocked(shop, 2);
    await gate.open();
    expect(await purging).toBe(true);
    const results = await applying;
    expect(results.map((result) => [result.lcid, wordsOf(result), result.trouble])).toEqual(
      lcids.map((lcid) => [lcid, [lcid === "O1" ? "rejected ORDER_PURGED" : "applied 1"], null]),
    );
    expect(await shop.store.readOrder("O1")).toBeNull();
    await expectSound(shop);
  });

  test("a purge that waited behind an apply judges the order as that apply left it", async () => {
    const { shop, story } = await openWithCompleted();
    const gate = await closedGate(shop, { table: "outbox", on: "insert" });
    // One more line: the order is no longer complete.
    const applying = shop.apply([story.lineAdded("L2")]);
    await gate.occupied();
    const purging = shop.store.purgeOne("O1");
    await eventuallyBlocked(shop, 2);
    await gate.open();
    expect(wordsOf(await applying)).toEqual(["applied 6"]);
    expect(await purging).toBe(false);
    await expectSound(shop);
  });

  test("many purges and applies of the same orders never leave half an order behind", async () => {
    const shop = await openShop({ poolSize: 8 });
    const lcids = Array.from({ length: 12 }, (_, index) => `M${index}`);
    const stories = new Map(lcids.map((lcid) => [lcid, new Story(lcid)]));
    await shop.store.apply(lcids.map((lcid) => batchOf(lcid, stories.get(lcid)!.completed())));
    const applying = lcids.map(async (lcid) => {
      for (let round = 0; round < 4; round += 1) {
        await applyTo(shop.store, [stories.get(lcid)!.paymentFailed("capture", `nothing ${round}`)]);
      }
    });
    const purging = lcids.map(async (lcid) => shop.store.purgeOne(lcid));
    await Promise.all([...applying, ...purging]);
    expect(await shop.sql("select lcid from orders intersect select lcid from purged_orders")).toEqual([]);
    await expectSound(shop);
  });
});

test("what keeps new lines out of a cancelled order is its status, never a lock", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply(story.cancelled());
  const result = await shop.apply([
    story.lineAdded("L2"),
    story.quantityChanged("q1", "L1", [2, 3]),
    story.event("line.removed", { changeId: "q2", lineId: "L1", fromQuantity: 2 }),
  ]);
  expect(wordsOf(result)).toEqual([
    "rejected ORDER_CANCELLED",
    "rejected ORDER_CANCELLED",
    "rejected ORDER_CANCELLED",
  ]);
  expect(await shop.sql("select line_id from order_lines")).toEqual([{ line_id: "L1" }]);
  await expectSound(shop);
});
