import { createOrderStore } from "@junban/order-store";
import { referenceOf, tellStories } from "@junban/order-stories";
import { consumeOrderUpdates, createGuardTable, type OrderUpdatesConsumer } from "@junban/order-updates";
import type { EventEnvelope } from "@junban/orders";
import { readStored, verdictOf, type Verdict } from "@junban/trial";
import pg from "pg";
import { expect, inject, onTestFinished } from "vitest";
import { type Place, SHORT_LEASE, startWorker } from "../fleet/worker-lab.ts";
import { eventually } from "../support/index.ts";
import { withClient } from "../support/run.ts";
import { nothingWaits, type Shop, startForwarder } from "../upstream-outbox/lab.ts";

const WITHIN_MS = 60_000;

/** A stream in three parts, with an event that waits at the end of the first for one of the second. */
export function storyInThreeParts(): readonly (readonly EventEnvelope[])[] {
  const stream = tellStories({ seed: 20_261_130, orders: 24, earlyShare: 0.1 }).map(({ event }) => event);
  const third = Math.floor(stream.length / 3);
  const eventOf = (id: string, type: string, data: object): EventEnvelope => {
    return { specversion: "1.0", source: "/lab", id, type, lcid: "EARLY-1", data };
  };
  const lines = [{ lineId: "1", sku: "TEA-100", quantity: 1, unitAmount: 1_000 }];
  const placed = { currency: "JPY", adjustment: 0, shipGate: "captured", lines };
  const authorized = { authorizationId: "a-1", amount: 1_000, currency: "JPY" };
  return [
    [
      ...stream.slice(0, third),
      eventOf("placed", "order.placed", placed),
      eventOf("captured", "payment.captured", { captureId: "c-1", ...authorized }),
    ],
    [eventOf("authorized", "payment.authorized", authorized), ...stream.slice(third, 2 * third)],
    stream.slice(2 * third),
  ];
}

/** Writes events into a producer's outbox in their order, as whoever has no check of its own before it. */
export async function enqueueAll(shop: Shop, events: readonly EventEnvelope[]): Promise<void> {
  const client = await shop.pool.connect();
  try {
    await client.query("begin");
    for (const event of events) {
      await client.query("select junban_upstream.enqueue_event($1)", [JSON.stringify(event)]);
    }
    await client.query("commit");
  } finally {
    client.release();
  }
}

/** Publishes whatever the outbox has not marked as forwarded, and leaves no forwarder behind. */
export async function forwardAll(shop: Shop): Promise<void> {
  const forwarder = startForwarder(shop);
  await nothingWaits(shop);
  await forwarder.close();
}

/** Lets a worker decide whatever stands in line, until that many events are on record and all updates were passed on. */
export async function workUntil(place: Place, events: readonly EventEnvelope[]): Promise<void> {
  const worker = await startWorker(place, { ...SHORT_LEASE, JUNBAN_RELAY: "on" });
  const decided = new Set(events.map(({ source, id }) => JSON.stringify([source, id]))).size;
  await eventually(async () => expect(await progressIn(place.databaseUrl)).toEqual({ decided, untold: 0 }), {
    withinMs: WITHIN_MS,
    everyMs: 100,
  });
  worker.tree.signal("SIGTERM");
  await worker.exited;
}

async function progressIn(databaseUrl: string): Promise<unknown> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<Readonly<Record<string, number>>>(
      `select (select count(*)::int from order_events) as decided, (select count(*)::int from outbox) as untold`,
    );
    return rows[0];
  });
}

/** A copy of a database within its server: a backup as far as the database is concerned. Answers with the copy's name. */
export async function backUp(databaseUrl: string): Promise<string> {
  const name = nameOf(databaseUrl);
  const copy = `${name}_backup`;
  await onServer(async (client) => {
    // Nobody may be connected to what is copied, and a session ends a little after its process.
    await eventually(async () => client.query(`create database ${copy} template ${name}`), {
      withinMs: WITHIN_MS,
      everyMs: 100,
    });
  });
  return copy;
}

export async function restore(databaseUrl: string, copy: string): Promise<void> {
  const name = nameOf(databaseUrl);
  await onServer(async (client) => {
    await client.query(`drop database ${name} with (force)`);
    await client.query(`alter database ${copy} rename to ${name}`);
  });
}

export interface Told {
  readonly lcid: string;
  readonly version: number;
  readonly event: string;
}

/** Which event made which version of which order, by the fleet's own record. */
export async function versionsIn(databaseUrl: string): Promise<readonly Told[]> {
  return toldBy(
    databaseUrl,
    "select lcid, version::int, event_id as event from order_events where version is not null order by lcid, version",
  );
}

/** The same by a subscriber's table. */
export async function invoicesIn(databaseUrl: string): Promise<readonly Told[]> {
  return toldBy(databaseUrl, "select lcid, version::int, event from invoices order by lcid, version");
}

async function toldBy(databaseUrl: string, question: string): Promise<readonly Told[]> {
  return withClient(databaseUrl, async (client) => (await client.query<Told>(question)).rows);
}

/** A subscriber's tables, as docs/order-updates.md has them, and the event beside each version. */
export async function openBooks(databaseUrl: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  await createGuardTable(pool);
  await pool.query(
    "create table invoices (lcid text, version bigint, event text, primary key (lcid, version))",
  );
  await pool.end();
}

export interface Subscriber {
  /** The orders of which versions were passed over. */
  readonly gaps: ReadonlySet<string>;
  close(): Promise<void>;
}

export async function subscribe(place: Place, books: string): Promise<Subscriber> {
  const pool = new pg.Pool({ connectionString: books, max: 10 });
  const gaps = new Set<string>();
  const consumer: OrderUpdatesConsumer = await consumeOrderUpdates(
    {
      redis: place.redisUrl,
      prefix: place.prefix,
      name: "billing",
      database: pool,
      leaseMs: 2_000,
      gapWaitMs: 2_000,
      onGap: ({ lcid }) => void gaps.add(lcid),
      onError: () => undefined,
    },
    async ({ lcid, version, payload }, { transaction }) => {
      const { id } = payload["event"] as { readonly id: string };
      await transaction.query("insert into invoices values ($1, $2, $3)", [lcid, version, id]);
    },
  );
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await consumer.close();
    await pool.end();
  };
  onTestFinished(close);
  return { gaps, close };
}

/** The verdict over what is stored, by the fleet's own audit and by a fold that shares no code with it. */
export async function judge(place: Place, published: readonly EventEnvelope[]): Promise<Verdict> {
  const store = createOrderStore({ databaseUrl: place.databaseUrl, poolSize: 2, worker: "test" });
  try {
    const stored = await readStored({
      store,
      lcids: [...new Set(published.map(({ lcid }) => lcid))],
      signal: AbortSignal.timeout(WITHIN_MS),
      onProgress: () => undefined,
    });
    return verdictOf({ sendings: published, ...stored, reference: referenceOf(published) });
  } finally {
    await store.close();
  }
}

/** The orders whose rows differ from their own history. */
export async function driftIn({ databaseUrl }: Place): Promise<readonly string[]> {
  const store = createOrderStore({ databaseUrl, poolSize: 1, worker: "test" });
  try {
    const drifted: string[] = [];
    for await (const { lcid, differences } of store.audit()) if (differences.length > 0) drifted.push(lcid);
    return drifted;
  } finally {
    await store.close();
  }
}

function nameOf(databaseUrl: string): string {
  return new URL(databaseUrl).pathname.slice(1);
}

async function onServer(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  await withClient(inject("junban").adminUrl, work);
}
