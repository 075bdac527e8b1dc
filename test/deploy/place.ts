import { createPublisher } from "@junban/event-queues";
import pg from "pg";
import { freshDatabase, freshRedis } from "../support/index.ts";

/** Where one fleet lives: its database, its Redis and its key prefix. */
export interface Place {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly prefix: string;
}

export async function freshPlace(): Promise<Place> {
  const { url: redisUrl, prefix } = freshRedis();
  return { databaseUrl: await freshDatabase(), redisUrl, prefix };
}

/** A placed order and authorizations of it, all of which apply. */
export async function publish(
  { redisUrl, prefix }: Place,
  { lcid, count }: { readonly lcid: string; readonly count: number },
): Promise<void> {
  const publisher = createPublisher({ redis: redisUrl, prefix, timeoutMs: 30_000 });
  try {
    const events = Array.from({ length: count }, (_, number) => eventOf(lcid, number));
    for (const result of await publisher.publishAll(events)) {
      if (result.kind === "refused") throw result.error;
    }
  } finally {
    await publisher.close();
  }
}

function eventOf(lcid: string, number: number): object {
  const envelope = { specversion: "1.0", id: `${lcid}-${number}`, source: "/shop", lcid };
  if (number > 0) {
    const data = { authorizationId: `a-${number}`, amount: 10, currency: "JPY" };
    return { ...envelope, type: "payment.authorized", data };
  }
  const lines = [{ lineId: "L1", sku: "S1", quantity: 2, unitAmount: 500 }];
  const data = { currency: "JPY", adjustment: 0, shipGate: "captured", lines };
  return { ...envelope, type: "order.placed", data };
}

/** How many events have each outcome. */
export async function decided(place: Place): Promise<ReadonlyMap<string, number>> {
  const rows = await ask<{ outcome: string; count: number }>(
    place,
    "SELECT outcome, count(*)::int AS count FROM order_events GROUP BY outcome",
  );
  return new Map(rows.map(({ outcome, count }) => [outcome, count]));
}

/** A database as it is before the first migration. */
export async function emptied(place: Place): Promise<Place> {
  await ask(place, "DROP SCHEMA public CASCADE");
  await ask(place, "CREATE SCHEMA public");
  return place;
}

async function ask<Row extends object>({ databaseUrl }: Place, question: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Row>(question);
    return rows;
  } finally {
    await client.end();
  }
}
