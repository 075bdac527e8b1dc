import { createOrderStore, migrate, type OrderStore, type StandingEvent } from "@junban/order-store";
import { requestOf, type EventEnvelope } from "@junban/orders";
import { vacuumDatabase, type Sandbox } from "@junban/sandbox";
import { UndecidedError } from "./errors.ts";

/** One order and what happened to it so far. Told when it is its turn, since all pasts together may be too long to keep. */
export interface OrderPast {
  readonly lcid: string;
  readonly events: () => readonly EventEnvelope[];
}

const LANES_AT_ONCE = 32;
const EVENTS_AT_ONCE = 128;
const FILL_WITHIN_MS = 120_000;
/** Transactions under way. */
const FILLERS = 4;

/**
 * A database in which these orders have that past, applied by the store itself in the largest batches it takes, which is many
 * times as fast as through the queues and leaves the same rows. Vacuumed and analyzed, so that every copy of it is as clean as
 * every copy of another, however long their pasts are. (The server's own autovacuum stays on, as in production; a round is short
 * beside its pauses.)
 */
export async function databaseWithPast(
  sandbox: Sandbox,
  orders: readonly OrderPast[],
  { signal, onProgress }: { signal: AbortSignal; onProgress: (orders: number) => void },
): Promise<string> {
  const databaseUrl = await sandbox.postgres.createDatabase();
  await migrate({ databaseUrl });
  // Batches of this size are more than a worker ever sends at once, and nobody waits behind them.
  const store = createOrderStore({
    databaseUrl,
    poolSize: FILLERS,
    worker: "bench",
    statementTimeoutMs: FILL_WITHIN_MS,
    idleTransactionTimeoutMs: FILL_WITHIN_MS,
  });
  try {
    let taken = 0;
    const fill = async (): Promise<void> => {
      while (taken < orders.length) {
        signal.throwIfAborted();
        const some = orders.slice(taken, taken + LANES_AT_ONCE);
        taken += some.length;
        await applyPast(store, some);
        onProgress(taken);
      }
    };
    await Promise.all(Array.from({ length: FILLERS }, fill));
  } finally {
    await store.close();
  }
  await vacuumDatabase(databaseUrl);
  return databaseUrl;
}

/** A copy to work on. Nobody may be connected to the original. */
export async function copyOf(sandbox: Sandbox, databaseUrl: string): Promise<string> {
  return sandbox.postgres.createDatabase(decodeURIComponent(new URL(databaseUrl).pathname.slice(1)));
}

/** Rows of the inbox. */
export async function inboxRows(databaseUrl: string): Promise<number> {
  const store = createOrderStore({ databaseUrl, poolSize: 1, worker: "bench", statementTimeoutMs: 120_000 });
  try {
    const { eventsByOutcome } = await store.summary();
    return Object.values(eventsByOutcome).reduce((sum, count) => sum + count, 0);
  } finally {
    await store.close();
  }
}

async function applyPast(store: OrderStore, orders: readonly OrderPast[]): Promise<void> {
  let lanes = orders.map(({ lcid, events }) => ({ lcid, events: events() }));
  while (lanes.length > 0) {
    const batches = lanes.map(({ lcid, events }) => ({
      lcid,
      requests: events.slice(0, EVENTS_AT_ONCE).map(standing),
    }));
    for (const { lcid, settled, trouble } of await store.apply(batches)) {
      if (trouble === null) continue;
      const of = batches.find((batch) => batch.lcid === lcid)?.requests.length ?? 0;
      throw new UndecidedError({ what: `the past of ${lcid}`, left: of - settled.length, of }, trouble.error);
    }
    lanes = lanes
      .map(({ lcid, events }) => ({ lcid, events: events.slice(EVENTS_AT_ONCE) }))
      .filter(({ events }) => events.length > 0);
  }
}

function standing(event: EventEnvelope): StandingEvent {
  const { key, body } = requestOf(event);
  return { key, body, publishedAtMs: Date.now() };
}
