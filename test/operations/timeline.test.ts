import { readTimeline } from "@junban/operations";
import { createOrderStore } from "@junban/order-store";
import type { OrderStore } from "@junban/order-store";
import { readEnvelope, requestOf } from "@junban/orders";
import type { EventEnvelope } from "@junban/orders";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/index.ts";
import { withClient } from "../support/run.ts";

let made = 0;

function event(type: string, data: object): EventEnvelope {
  made += 1;
  const reading = readEnvelope({
    specversion: "1.0",
    id: `e-${made}`,
    source: "/shop",
    type,
    lcid: "A",
    data,
  });
  if (reading.kind === "unusable") throw new Error(reading.rule);
  return reading.envelope;
}

const authorized = (authorizationId: string): EventEnvelope =>
  event("payment.authorized", { authorizationId, amount: 10, currency: "JPY" });
const placed = (): EventEnvelope =>
  event("order.placed", {
    currency: "JPY",
    adjustment: 0,
    shipGate: "captured",
    lines: [{ lineId: "1", sku: "tea", quantity: 2, unitAmount: 5 }],
  });

async function openStore(): Promise<{ store: OrderStore; databaseUrl: string }> {
  const databaseUrl = await freshDatabase();
  const store = createOrderStore({ databaseUrl, worker: "test" });
  onTestFinished(async () => store.close());
  return { store, databaseUrl };
}

async function apply(store: OrderStore, events: readonly EventEnvelope[]): Promise<void> {
  for (let start = 0; start < events.length; start += 250) {
    const requests = events
      .slice(start, start + 250)
      .map((each) => ({ ...requestOf(each), publishedAtMs: Date.now() }));
    const [result] = await store.apply([{ lcid: "A", requests }]);
    expect(result?.trouble).toBeNull();
  }
}

test("each applied event shows what it changed, in the order of versions, where it stood in line", async () => {
  const { store } = await openStore();
  const capture = event("payment.captured", {
    captureId: "c-1",
    authorizationId: "a-1",
    amount: 10,
    currency: "JPY",
  });
  await apply(store, [placed(), capture, authorized("a-1"), authorized("a-1")]);
  const { entries, total, broken } = await readTimeline({ store }, { lcid: "A" });
  expect([total, broken]).toEqual([4, null]);
  const [first, second, third, fourth] = entries.map(({ event: { version }, changes }) => ({
    version,
    changes,
  }));
  expect(first).toMatchObject({ version: 1 });
  expect(first?.changes).toContainEqual({
    kind: "order",
    field: "status",
    from: "awaiting_placement",
    to: "placed",
  });
  expect(first?.changes).toContainEqual(expect.objectContaining({ kind: "new-line" }));
  // It came early and took effect behind its authorization.
  expect(second?.version).toBe(3);
  expect(second?.changes).toContainEqual({ kind: "order", field: "capturedMinor", from: 0, to: 10 });
  expect(second?.changes).toContainEqual({
    kind: "order",
    field: "paymentStatus",
    from: "authorized",
    to: "paid",
  });
  expect(third).toMatchObject({ version: 2 });
  expect(fourth).toEqual({ version: null, changes: [] });
});

test("ten thousand events come a page at a time, the newest first, each page knowing what its own events changed", async () => {
  const { store, databaseUrl } = await openStore();
  const many = Array.from({ length: 2_000 }, (_, index) => authorized(`a-${index}`));
  await apply(store, [placed(), ...many]);
  // Copies stand for the rest: applying as many would be a test of the store.
  await withClient(databaseUrl, async (client) => {
    await client.query(
      `insert into order_events (source, event_id, lcid, type, event, outcome, version, arrival, body_digest, published_at, worker)
       select source, event_id || '-' || round, lcid, type,
         jsonb_set(event, '{data,authorizationId}', to_jsonb((event->'data'->>'authorizationId') || '-' || round)),
         outcome, version + round * 2000, arrival + round * 2000, body_digest, published_at, worker
       from order_events, generate_series(1, 4) as round where lcid = 'A' and version > 1`,
    );
  });
  const last = await readTimeline({ store }, { lcid: "A", size: 50 });
  expect([last.total, last.page, last.pages, last.broken]).toEqual([10_001, 201, 201, null]);
  const middle = await readTimeline({ store }, { lcid: "A", page: 100, size: 50 });
  expect(middle.entries).toHaveLength(50);
  for (const {
    event: { version },
    changes,
  } of middle.entries) {
    const from = ((version ?? 0) - 2) * 10;
    expect(changes).toContainEqual({ kind: "order", field: "authorizedMinor", from, to: from + 10 });
  }
  expect((await readTimeline({ store }, { lcid: "A", page: 999, size: 50 })).page).toBe(201);
});

test("a history that does not fold is shown all the same, with what is wrong in it", async () => {
  const { store, databaseUrl } = await openStore();
  await apply(store, [placed(), authorized("a-1"), authorized("a-2")]);
  await withClient(databaseUrl, async (client) => {
    await client.query(
      `update order_events set event = jsonb_set(event, '{data,currency}', '"EUR"') where lcid = 'A' and version = 2`,
    );
  });
  const { entries, broken } = await readTimeline({ store }, { lcid: "A" });
  expect(broken).toContain("payment.authorized");
  expect(entries.map(({ changes }) => changes.length > 0)).toEqual([true, false, false]);
});
