import { expect, test } from "vitest";
import { openShop, wordsOf } from "./shop.ts";
import { Story } from "./story.ts";
import { closedGate, eventuallyBlocked } from "./traps.ts";

/** What a held lock would make fail. Reads that wait for a writer end as 55P03 or 57014. */
const HASTY = { lockTimeoutMs: 150, statementTimeoutMs: 2_000 };
const PATIENT = { lockTimeoutMs: 20_000, statementTimeoutMs: 20_000, idleTransactionTimeoutMs: 20_000 };

test("reading never waits for a writer: not for a transition under way, nor for an order locked FOR UPDATE", async () => {
  const shop = await openShop(PATIENT);
  const story = new Story("O1");
  await shop.apply([story.placed(), story.authorized("a1"), story.shipped("s1")]);
  const reader = shop.openStore(HASTY);
  const gate = await closedGate(shop, { table: "outbox", on: "insert" });
  const event = story.captured("c1", "a1");
  const applying = shop.apply([event]);
  await gate.occupied();

  const readAll = async (): Promise<unknown> => ({
    order: await reader.readOrder("O1"),
    history: await reader.readHistory("O1"),
    event: await reader.readEvent({ source: event.source, id: event.id }),
    held: await reader.listHeld({ limit: 10 }),
    dead: await reader.listDead({ limit: 10 }),
    due: await reader.dueHeld({ limit: 10 }),
    unsupported: await reader.unsupported({ limit: 10 }),
    stuck: await reader.stuckHalted({ limit: 10 }),
    purgeable: await reader.purgeable({ olderThanMs: 0, limit: 10 }),
    summary: await reader.summary(),
  });
  const whileWriting = await readAll();
  // What is not committed is not there.
  expect(whileWriting).toMatchObject({ order: { version: 2 }, history: { length: 3 }, event: null });
  for await (const { differences } of reader.audit()) expect(differences).toEqual([]);

  await gate.open();
  expect(wordsOf(await applying)).toEqual(["applied 3"]);
  const holder = await shop.session();
  await holder.query("begin; select from orders where lcid = 'O1' for update");
  expect(await readAll()).toMatchObject({
    order: { version: 3 },
    history: { length: 4 },
    event: { version: 3 },
  });
  for await (const { differences } of reader.audit()) expect(differences).toEqual([]);
});

test("an order's report is one moment of it: what changes while it is being read is not mixed in", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([story.placed(), story.captured("c1", "a1")]);
  await shop.store.readOrder("O1");
  const admin = await shop.session();
  await admin.query("begin; lock table order_events in access exclusive mode");
  const reading = shop.store.readOrder("O1");
  await eventuallyBlocked(shop);
  // The order's own row is read by now, its held events are not.
  await admin.query("update orders set held = 0");
  await admin.query("update order_events set outcome = 'rejected' where outcome = 'deferred'");
  await admin.query("commit");
  const report = await reading;
  expect(report?.heldEvents).toHaveLength(report!.held);
});

test("what is not there is null or empty, not an error", async () => {
  const shop = await openShop();
  expect(await shop.store.readOrder("nobody")).toBeNull();
  expect(await shop.store.readHistory("nobody")).toEqual([]);
  expect(await shop.store.readEvent({ source: "/nobody", id: "1" })).toBeNull();
  expect(await shop.store.listHeld({ limit: 10 })).toEqual([]);
  expect(await shop.store.listDead({ limit: 10 })).toEqual([]);
  expect(await shop.store.summary()).toMatchObject({ held: 0, halted: 0, alerts: 0, outboxUnpublished: 0 });
});
