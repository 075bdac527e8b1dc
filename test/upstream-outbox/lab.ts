import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createPublisher } from "@junban/event-queues";
import { startProcess } from "@junban/sandbox";
import type { ProcessTree } from "@junban/sandbox";
import pg from "pg";
import { onTestFinished } from "vitest";
import { createForwarder, enqueueEvent, migrateUpstream } from "../../packages/upstream-outbox/src/index.ts";
import type { Forwarder, ForwarderOptions } from "../../packages/upstream-outbox/src/index.ts";
import { eventually, freshDatabase, freshRedis } from "../support/index.ts";

/** A producer's database with an outbox in it, and the corner of Redis its events go to. */
export interface Shop {
  readonly databaseUrl: string;
  readonly pool: pg.Pool;
  readonly redisUrl: string;
  readonly prefix: string;
}

export async function freshShop(): Promise<Shop> {
  const databaseUrl = await freshDatabase();
  await migrateUpstream({ databaseUrl });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  pool.on("error", () => undefined);
  onTestFinished(async () => pool.end());
  const { url: redisUrl, prefix } = freshRedis();
  return { databaseUrl, pool, redisUrl, prefix };
}

export function freshLcid(): string {
  return `L-${randomBytes(6).toString("hex")}`;
}

/** Some payment of this order, with this id. */
export function eventOf(lcid: string, id: string | number, more: object = {}): Record<string, unknown> {
  const data = { authorizationId: `a-${id}`, amount: 10, currency: "JPY" };
  return {
    specversion: "1.0",
    id: String(id),
    source: "/shop",
    type: "payment.authorized",
    lcid,
    data,
    ...more,
  };
}

/** A client in a transaction of its own, ended with the test at the latest. */
export async function begun({ pool }: Pick<Shop, "pool">): Promise<pg.PoolClient> {
  const client = await pool.connect();
  let isOut = true;
  const release = client.release.bind(client);
  client.release = (error) => {
    isOut = false;
    release(error);
  };
  onTestFinished(() => {
    if (isOut) release(true);
  });
  await client.query("BEGIN");
  return client;
}

export async function end(client: pg.PoolClient, how: "COMMIT" | "ROLLBACK"): Promise<void> {
  await client.query(how);
  client.release();
}

/** Each event in a transaction of its own, one after the other. */
export async function enqueue(shop: Shop, events: readonly unknown[]): Promise<void> {
  for (const event of events) {
    const client = await begun(shop);
    await enqueueEvent(client, event);
    await end(client, "COMMIT");
  }
}

/** A forwarder with a real publisher; both end with the test. */
export function startForwarder(
  shop: Omit<Shop, "pool">,
  options: Partial<ForwarderOptions> & { readonly laneCap?: number; readonly timeoutMs?: number } = {},
): Forwarder {
  const { laneCap, timeoutMs, ...rest } = options;
  const publisher = createPublisher({
    redis: shop.redisUrl,
    prefix: shop.prefix,
    ...(laneCap === undefined ? {} : { laneCap }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const forwarder = createForwarder({ databaseUrl: shop.databaseUrl, publisher, pollMs: 100, ...rest });
  onTestFinished(async () => {
    await forwarder.close();
    await publisher.close();
  });
  return forwarder;
}

/** The ids of the events that stand in a lane, in its order. */
export async function laneOf(
  { prefix }: Pick<Shop, "prefix">,
  lcid: string,
  redis = freshRedis().connect(),
): Promise<string[]> {
  const keys = await redis.lrange(`${prefix}:wait:{${lcid}}`, 0, -1);
  const bodies = keys.length === 0 ? [] : await redis.hmget(`${prefix}:body:{${lcid}}`, ...keys);
  return bodies.map((body) => {
    const event = JSON.parse((body ?? "").slice((body ?? "").indexOf("{"))) as { id: string };
    return event.id;
  });
}

export interface OutboxRow {
  readonly event: { readonly id: string; readonly lcid: string };
  readonly state: "waiting" | "forwarded" | "parked";
  readonly parked_code: string | null;
}

export async function rowsOf({ pool }: Pick<Shop, "pool">): Promise<OutboxRow[]> {
  const { rows } = await pool.query<OutboxRow>(
    `SELECT event, parked_code, CASE WHEN forwarded_at IS NOT NULL THEN 'forwarded'
       WHEN parked_at IS NOT NULL THEN 'parked' ELSE 'waiting' END AS state
     FROM junban_upstream.events ORDER BY id`,
  );
  return rows;
}

export async function nothingWaits(shop: Pick<Shop, "pool">): Promise<void> {
  await eventually(async () => (await rowsOf(shop)).every(({ state }) => state !== "waiting"), {
    withinMs: 30_000,
  });
}

const PROGRAM = fileURLToPath(new URL("forward.process.ts", import.meta.url));

/** A forwarder in a process of its own, which kills itself at the given moment, if any. */
export async function forwarderProcess(
  shop: Omit<Shop, "pool">,
  { dieAt = "", leaseMs = 2_000 }: { dieAt?: string; leaseMs?: number } = {},
): Promise<ProcessTree> {
  const settings = { ...shop, pool: undefined, dieAt, leaseMs };
  const tree = await startProcess({
    command: process.execPath,
    args: ["--import", "tsx", "--conditions", "@junban/source", PROGRAM, JSON.stringify(settings)],
  });
  onTestFinished(async () => void (await tree.stop({ signal: "SIGKILL" })));
  return tree;
}
