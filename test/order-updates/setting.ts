import pg from "pg";
import { onTestFinished } from "vitest";
import { consumeOrderUpdates, createGuardTable } from "../../packages/order-updates/src/index.ts";
import type {
  ConsumeOrderUpdatesOptions,
  Gap,
  HandlerContext,
  OrderUpdate,
  OrderUpdatesConsumer,
  SkippedUpdate,
  TransactionContext,
} from "../../packages/order-updates/src/index.ts";
import { freshDatabase, freshRedis } from "../support/index.ts";
import { lastingRelay } from "./relay.ts";
import type { Relay } from "./relay.ts";

/** What one consumer saw, in the order in which it saw it. */
export interface Seen {
  readonly consumer: OrderUpdatesConsumer;
  /** Handled versions as `lcid@version`, one entry for each run of the handler that began. */
  readonly begun: string[];
  readonly gaps: Gap[];
  readonly skipped: SkippedUpdate[];
  readonly errors: Error[];
}

export type Overrides = Partial<Omit<ConsumeOrderUpdatesOptions, "redis" | "prefix">>;

export interface Corner {
  readonly url: string;
  readonly prefix: string;
}

/** A corner of Redis with a relay of one's own. */
export interface Station extends Relay, Corner {
  /** A consumer without a database. */
  onRedis(
    overrides?: Overrides,
    handler?: (update: OrderUpdate, context: HandlerContext) => Promise<void>,
  ): Promise<Seen>;
  /** A consumer whose handler writes each version into the table `effects`, and then does what it is given. */
  onPostgres(
    pool: pg.Pool,
    overrides?: Overrides,
    handler?: (update: OrderUpdate, context: TransactionContext) => Promise<void>,
  ): Promise<Seen>;
}

/** Without a server of its own, in a corner of the run's Redis. */
export function openStation({ url, prefix }: Corner = freshRedis()): Station {
  const start = async (
    overrides: Overrides,
    consume: (options: ConsumeOrderUpdatesOptions, begun: string[]) => Promise<OrderUpdatesConsumer>,
  ): Promise<Seen> => {
    const seen = { begun: [], gaps: [], skipped: [], errors: [] } as Omit<Seen, "consumer">;
    const consumer = await consume(
      {
        redis: url,
        prefix,
        name: "billing",
        retryMs: 20,
        onGap: ({ gap }) => {
          if (gap !== null) seen.gaps.push(gap);
        },
        onSkipped: (skipped) => seen.skipped.push(skipped),
        onError: (error) => seen.errors.push(error),
        ...overrides,
      },
      seen.begun,
    );
    onTestFinished(async () => consumer.close({ deadlineMs: 2_000 }));
    return { ...seen, consumer };
  };
  return {
    url,
    prefix,
    ...lastingRelay({ url, prefix }),
    onRedis: async (overrides = {}, handler) =>
      start(overrides, async (options, begun) =>
        consumeOrderUpdates(options, async (update, context) => {
          begun.push(nameOf(update));
          await handler?.(update, context);
        }),
      ),
    onPostgres: async (pool, overrides = {}, handler) =>
      start(overrides, async (options, begun) =>
        consumeOrderUpdates({ ...options, database: pool }, async (update, context) => {
          begun.push(nameOf(update));
          await context.transaction.query("insert into effects (name, lcid, version) values ($1, $2, $3)", [
            options.name,
            update.lcid,
            update.version,
          ]);
          await handler?.(update, context);
        }),
      ),
  };
}

/** A database of the subscriber's own, with the guard's table and one for effects. */
export async function openPool(): Promise<pg.Pool> {
  const pool = connectTo(await freshDatabase());
  await prepare(pool);
  return pool;
}

/** Connections to a database as a subscriber has them; closed when the test is over. */
export function connectTo(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 20 });
  pool.on("error", () => undefined);
  onTestFinished(async () => pool.end());
  return pool;
}

/** Creates the guard's table and the one for effects. */
export async function prepare(pool: pg.Pool): Promise<void> {
  await createGuardTable(pool);
  await pool.query(
    "create table effects (id bigint generated always as identity, name text, lcid text, version int)",
  );
}

/** The effects that were committed, as `lcid@version`, in the order of their writing. */
export async function effectsOf(pool: pg.Pool, name = "billing"): Promise<string[]> {
  const { rows } = await pool.query<{ lcid: string; version: number }>(
    "select lcid, version from effects where name = $1 order by id",
    [name],
  );
  return rows.map(nameOf);
}

export function nameOf({ lcid, version }: { readonly lcid: string; readonly version: number }): string {
  return `${lcid}@${version}`;
}
