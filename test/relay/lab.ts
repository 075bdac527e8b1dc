import { createUpdatesPublisher, UPDATES_QUEUE, type UpdatesPublisher } from "@junban/event-queues";
import { createOrderStore, openOutbox, type Outbox, type OrderStore } from "@junban/order-store";
import { createRelay, type Relay, type RelayOptions } from "@junban/relay";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import pg from "pg";
import { onTestFinished } from "vitest";
import { freshDatabase, freshRedis } from "../support/index.ts";

/** An outbox and a queue that nobody else uses. */
export interface Place {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly prefix: string;
}

export async function freshPlace(): Promise<Place> {
  const { url: redisUrl, prefix } = freshRedis();
  return { databaseUrl: await freshDatabase(), redisUrl, prefix };
}

export interface TestRelay extends Relay {
  readonly lines: readonly string[];
  readonly counts: { passedOn: number; parked: number };
  readonly outbox: Outbox;
  /** How often it began to lead. */
  ledTimes(): number;
  /** How often it told the age of what waits: so often has it looked. */
  looks(): number;
}

export type RelayOverrides = Partial<Omit<RelayOptions, "outbox" | "logger" | "observer">>;

/** A relay of the test's own, which notes what it says; it ends with the test. */
export function startRelay(place: Place, overrides: RelayOverrides = {}): TestRelay {
  const lines: string[] = [];
  const counts = { passedOn: 0, parked: 0 };
  let led = 0;
  let looks = 0;
  const say = (_fields: object, line: string): void => {
    lines.push(line);
  };
  const outbox = openTestOutbox(place);
  const relay = createRelay({
    outbox,
    updates: overrides.updates ?? openUpdates(place),
    cap: 10_000,
    pollMs: 200,
    logger: { info: say, warn: say, error: say },
    observer: {
      passedOn: (count) => {
        counts.passedOn += count;
      },
      parked: () => {
        counts.parked += 1;
      },
      leads: (isLeading) => {
        if (isLeading) led += 1;
      },
      lag: () => {
        looks += 1;
      },
    },
    ...overrides,
  });
  onTestFinished(async () => {
    await relay.stop();
    await outbox.close();
  });
  return Object.assign(relay, { lines, counts, outbox, ledTimes: () => led, looks: () => looks });
}

export function openTestOutbox({ databaseUrl }: Place): Outbox {
  const outbox = openOutbox({ databaseUrl, worker: "test" });
  onTestFinished(async () => outbox.close());
  return outbox;
}

export function openUpdates({ redisUrl, prefix }: Place): UpdatesPublisher {
  const updates = createUpdatesPublisher({ redis: redisUrl, prefix, timeoutMs: 2_000 });
  onTestFinished(async () => updates.close());
  return updates;
}

export function openStore({ databaseUrl }: Place): OrderStore {
  const store = createOrderStore({ databaseUrl, worker: "test" });
  onTestFinished(async () => store.close());
  return store;
}

export function connectTo({ redisUrl }: Place): Redis {
  const redis = new Redis(redisUrl);
  onTestFinished(() => redis.disconnect());
  return redis;
}

export function poolOf({ databaseUrl }: Place): pg.Pool {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  pool.on("error", () => undefined);
  onTestFinished(async () => pool.end());
  return pool;
}

export interface OutboxRow {
  readonly lcid: string;
  readonly version: number;
}

/** Writes rows as the transaction does, without an order. */
export async function writeNews(
  client: Pick<pg.ClientBase, "query">,
  rows: readonly (OutboxRow & { readonly payload?: unknown })[],
): Promise<void> {
  const values = rows.map(({ lcid, version, payload }) => ({
    lcid,
    version,
    payload: payload === undefined ? { lcid, version, event: {}, order: {} } : payload,
  }));
  await client.query(
    `insert into outbox (lcid, version, payload)
     select lcid, version, payload from jsonb_to_recordset($1::jsonb) as r(lcid text, version bigint, payload jsonb)`,
    [JSON.stringify(values)],
  );
}

export function versionsOf(lcid: string, count: number, first = 1): OutboxRow[] {
  return Array.from({ length: count }, (_, index) => ({ lcid, version: first + index }));
}

export async function outboxOf(pool: pg.Pool): Promise<readonly OutboxRow[]> {
  const { rows } = await pool.query<{ lcid: string; version: string }>(
    "select lcid, version from outbox order by id",
  );
  return rows.map(({ lcid, version }) => ({ lcid, version: Number(version) }));
}

/** What waits in the queue, in the order in which it will be fetched, as `lcid version`. */
export async function queued(place: Place): Promise<readonly string[]> {
  return withQueue(place, async (queue) => {
    const jobs = await queue.getJobs(["waiting"], 0, -1, true);
    return jobs.map(({ data }) => `${data.lcid} ${data.version}`);
  });
}

/** Takes every job that waits, as a consumer that is done at once. */
export async function takeAll(place: Place): Promise<void> {
  await withQueue(place, async (queue) => queue.drain());
}

async function withQueue<T>(
  { redisUrl, prefix }: Place,
  work: (queue: Queue<OutboxRow>) => Promise<T>,
): Promise<T> {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue<OutboxRow>(UPDATES_QUEUE, { connection, prefix });
  try {
    return await work(queue);
  } finally {
    await queue.close();
    connection.disconnect();
  }
}

export function told(rows: readonly OutboxRow[]): string[] {
  return rows.map(({ lcid, version }) => `${lcid} ${version}`);
}
