import { createLanes } from "@junban/handoff-lock";
import { createOrderStore, openOutbox } from "@junban/order-store";
import type { OrderStore } from "@junban/order-store";
import { tellStories } from "@junban/order-stories";
import { decide, readEnvelope, requestOf } from "@junban/orders";
import type { EventEnvelope } from "@junban/orders";
import { Queue, UnrecoverableError, Worker } from "bullmq";
import { Redis } from "ioredis";
import type { Place } from "./console-process.ts";

/** What a stage is filled with by hand; every page has something to show. */
export const TOLD = {
  /** Placed, paid, changed, shipped in part; its capture came before its authorization, and one shipment is told too early. */
  order: "S-1001",
  /** Stands behind an event that could not be decided. */
  halted: "S-2002",
  haltedEvent: { source: "/payments", id: "evt-cursed" },
  /** Waits for its authorization. */
  held: "S-3003",
  /** Captured a second time. */
  alert: { source: "/payments", id: "evt-twice" },
  deadJob: "job-without-event",
  laneHolder: "S-4004",
} as const;

let made = 0;

export function event(
  lcid: string,
  type: string,
  data: object,
  over: Partial<EventEnvelope> & Record<string, unknown> = {},
): EventEnvelope {
  made += 1;
  const reading = readEnvelope({
    specversion: "1.0",
    id: `evt-${made}`,
    source: "/shop",
    type,
    lcid,
    data,
    ...over,
  });
  if (reading.kind === "unusable") throw new Error(`${type}: ${reading.rule}`);
  return reading.envelope;
}

export function placed(lcid: string, currency = "EUR"): EventEnvelope {
  const lines = [
    { lineId: "1", sku: "TEA-SENCHA-100", quantity: 2, unitAmount: 1_250 },
    { lineId: "2", sku: "CUP-HAGI", quantity: 1, unitAmount: 3_400 },
  ];
  return event(lcid, "order.placed", { currency, adjustment: 490, shipGate: "captured", lines });
}

export function storeAt({ databaseUrl }: Pick<Place, "databaseUrl">): OrderStore {
  return createOrderStore({
    databaseUrl,
    worker: "shop-worker-1",
    // A fault in the decision, for events that carry this word.
    decide: (view, about) => {
      if (JSON.stringify(about.data).includes("cursed")) throw new TypeError("a fault in the decision");
      return decide(view, about);
    },
  });
}

/** Decides events as a worker would: each order's in the given order. */
export async function applyAll(
  store: OrderStore,
  events: readonly EventEnvelope[],
  publishedAtMs = Date.now(),
): Promise<void> {
  const lanes = new Map<string, EventEnvelope[]>();
  for (const each of events) {
    const lane = lanes.get(each.lcid) ?? [];
    lane.push(each);
    lanes.set(each.lcid, lane);
  }
  for (const [lcid, lane] of lanes) {
    for (let start = 0; start < lane.length; start += 200) {
      const requests = lane.slice(start, start + 200).map((each) => ({ ...requestOf(each), publishedAtMs }));
      const [result] = await store.apply([{ lcid, requests }]);
      if (result?.trouble !== null) throw result?.trouble?.error ?? new Error("no answer");
    }
  }
}

/** Fills a place so that every page of a console has something to show. */
export async function fillStage(place: Place): Promise<void> {
  const store = storeAt(place);
  try {
    const stories = tellStories({ seed: 7, orders: 14, repeatShare: 0, invalidCount: 4 });
    await applyAll(
      store,
      stories.map(({ event: told }) => told),
      Date.now() - 40,
    );
    await tellOrder(store);
    await tellTrouble(store);
    await park(place);
  } finally {
    await store.close();
  }
  await fillLanes(place);
  await failJob(place);
}

async function tellOrder(store: OrderStore): Promise<void> {
  const lcid = TOLD.order;
  const pay = { source: "/payments" };
  const stock = { source: "/warehouse" };
  const currency = "EUR";
  const chapters: readonly (readonly EventEnvelope[])[] = [
    [
      placed(lcid),
      event(
        lcid,
        "payment.captured",
        { captureId: "c-1", authorizationId: "a-1", amount: 6_390, currency },
        pay,
      ),
    ],
    [
      event(lcid, "payment.authorized", { authorizationId: "a-1", amount: 6_390, currency }, pay),
      event(
        lcid,
        "inventory.reserved",
        { reservationId: "r-1", lineId: "1", quantity: 2, shortageId: null },
        stock,
      ),
      event(lcid, "inventory.short", { shortageId: "s-1", lineId: "2", quantity: 1 }, stock),
    ],
    [
      event(lcid, "inventory.shipped", { shipmentId: "p-1", items: [{ lineId: "1", quantity: 2 }] }, stock),
      event(lcid, "inventory.shipped", { shipmentId: "p-2", items: [{ lineId: "1", quantity: 1 }] }, stock),
      event(lcid, "cancel.requested", {
        cancelId: "x-1",
        scope: "lines",
        items: [{ lineId: "2", quantity: 1 }],
        reason: "took too long",
      }),
      event(lcid, "cancel.confirmed", { cancelId: "x-1" }),
    ],
  ];
  for (const [index, chapter] of chapters.entries()) {
    await applyAll(store, chapter, Date.now() - (chapters.length - index) * 3_000_000);
  }
}

async function tellTrouble(store: OrderStore): Promise<void> {
  const currency = "JPY";
  const capture = (lcid: string, captureId: string, id: string): EventEnvelope =>
    event(
      lcid,
      "payment.captured",
      { captureId, authorizationId: lcid === TOLD.halted ? null : "a-9", amount: 1_000, currency },
      { source: "/payments", id },
    );
  const paid = { authorizationId: "a-9", amount: 1_000, currency };
  await applyAll(store, [
    placed("S-7001", currency),
    event("S-7001", "payment.authorized", paid, { source: "/payments" }),
    capture("S-7001", "c-4", "evt-once"),
    capture("S-7001", "c-5", TOLD.alert.id),
    placed(TOLD.halted, currency),
    capture(TOLD.halted, "cursed", TOLD.haltedEvent.id),
    capture(TOLD.halted, "c-2", "evt-behind-1"),
    event(TOLD.halted, "inventory.reserved", {
      reservationId: "r-7",
      lineId: "1",
      quantity: 1,
      shortageId: null,
    }),
    placed(TOLD.held, currency),
    capture(TOLD.held, "c-3", "evt-early"),
  ]);
}

async function park({ databaseUrl }: Place): Promise<void> {
  const outbox = openOutbox({ databaseUrl, worker: "stage" });
  try {
    const lead = await outbox.lead();
    const [first] = (await lead?.next({ passedOn: [], limit: 1 })) ?? [];
    if (first !== undefined) await lead?.park({ id: first.id, reason: "REDIS_REFUSED" });
  } finally {
    await outbox.close();
  }
}

/** Lines of different length, one of them with a holder for a minute. */
async function fillLanes({ redisUrl, prefix }: Place): Promise<void> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const lanes = createLanes({ redis, prefix, leaseMs: 60_000 });
  const standing: readonly (readonly [string, number])[] = [
    [TOLD.laneHolder, 42],
    ["S-4005", 17],
    [TOLD.order, 6],
    ["S-4006", 3],
    ["S-4007", 1],
  ];
  for (const [lcid, count] of standing) {
    const requests = Array.from({ length: count }, (_, index) => {
      const data = { authorizationId: `a-${index}`, amount: 100, currency: "EUR" };
      return requestOf(event(lcid, "payment.authorized", data, { source: "/payments" }));
    });
    await lanes.queue(lcid, requests);
  }
  await lanes.enter(TOLD.laneHolder);
  // Not closed: that would leave the lane. The lease ends by itself.
  redis.disconnect();
}

async function failJob({ redisUrl, prefix }: Place): Promise<void> {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue("{payment}", { connection, prefix });
  const worker = new Worker(
    "{payment}",
    () => {
      throw new UnrecoverableError("lcid: 1 to 128 characters of 0-9 A-Z a-z . _ : @ / + = ~ -");
    },
    { connection, prefix },
  );
  try {
    const failed = new Promise((resolve) => {
      worker.once("failed", resolve);
    });
    await queue.add("payment.captured", { order: 17, note: "<b>not an event</b>" }, { jobId: TOLD.deadJob });
    await failed;
    await queue.add("payment.captured", {}, { delay: 600_000 });
  } finally {
    await worker.close();
    await queue.close();
    connection.disconnect();
  }
}
