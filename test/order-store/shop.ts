import { createOrderStore } from "@junban/order-store";
import type { LaneBatch, LaneResult, OrderStore, OrderStoreOptions, Settled } from "@junban/order-store";
import type { EventEnvelope } from "@junban/orders";
import pg from "pg";
import { onTestFinished } from "vitest";
import { freshDatabase } from "../support/index.ts";
import { batchOf } from "./story.ts";

export type StoreOptions = Partial<OrderStoreOptions>;
type BatchLimits = Partial<Omit<LaneBatch, "lcid" | "requests">>;

/** A database of one test's own, a store on it, and a way to look behind the store's back. */
export interface Shop {
  readonly url: string;
  readonly store: OrderStore;
  /** Asks the database directly, on a connection that no store uses. */
  sql<Row extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /** A further connection; it gives up waiting for a lock after `lockTimeoutMs`. Ends with the test. */
  session(options?: { lockTimeoutMs?: number }): Promise<pg.Client>;
  /** A further store on the same database. Ends with the test. */
  openStore(options?: StoreOptions): OrderStore;
  /** Applies one lane's events in one call. */
  apply(events: readonly EventEnvelope[], limits?: BatchLimits): Promise<LaneResult>;
}

/** Opens a shop for the running test and closes it afterwards. */
export async function openShop(options: StoreOptions = {}): Promise<Shop> {
  const { shop, close } = await shopAt(await freshDatabase(), options);
  onTestFinished(close);
  return shop;
}

/** The same where a test has its own server, and for work outside of a test: whoever asks for it closes it. */
export async function shopAt(
  url: string,
  options: StoreOptions = {},
): Promise<{ shop: Shop; close: () => Promise<void> }> {
  const closings: (() => Promise<void>)[] = [];
  const openStore = (more: StoreOptions = {}): OrderStore => {
    const store = createOrderStore({ databaseUrl: url, worker: "tester", poolSize: 4, ...more });
    closings.push(async () => store.close());
    return store;
  };
  const session = async ({ lockTimeoutMs = 10_000 } = {}): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: url,
      lock_timeout: lockTimeoutMs,
      types: numberParsers(),
    });
    client.on("error", () => undefined);
    await client.connect();
    closings.push(async () => client.end());
    return client;
  };
  const onlooker = await session();
  const store = openStore(options);
  const shop: Shop = {
    url,
    store,
    sql: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
      (await onlooker.query<Row>(text, values)).rows,
    session,
    openStore,
    apply: async (events, limits) => applyTo(store, events, limits),
  };
  const close = async (): Promise<void> => {
    for (const closing of closings.splice(0).toReversed()) await closing();
  };
  return { shop, close };
}

export async function applyTo(
  store: OrderStore,
  events: readonly EventEnvelope[],
  limits: BatchLimits = {},
): Promise<LaneResult> {
  const [result] = await store.apply([batchOf(events[0]!.lcid, events, limits)]);
  return result!;
}

/** bigint as a number, as the store itself reads it. */
function numberParsers(): pg.CustomTypesConfig {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  return types;
}

/**
 * Each answer in a few words: `applied 1`, `rejected OVER_CAPTURE`, with `again` in front when it was on record; and at the end
 * what kept the rest from being answered.
 */
export function wordsOf({ settled, trouble }: LaneResult): string[] {
  const end = trouble === null ? [] : [`then ${trouble.kind} trouble: ${trouble.error.message}`];
  return [...settled.map(wordsFor), ...end];
}

function wordsFor(settled: Settled): string {
  return settled.repeat ? `again ${outcomeWords(settled)}` : outcomeWords(settled);
}

/** What the rows say about each event of an order by arrival, in the same words. */
export async function wordsOnRecord(shop: Shop, lcid: string): Promise<string[]> {
  return (await shop.store.readHistory(lcid)).map(outcomeWords);
}

function outcomeWords({ outcome, reason, version }: Pick<Settled, "outcome" | "reason" | "version">): string {
  if (outcome === "applied") return `applied ${version}`;
  return outcome === "duplicate" || reason === null ? outcome : `${outcome} ${reason}`;
}
