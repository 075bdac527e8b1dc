import type { AuditDifference, OrderReport, OrderStore } from "@junban/order-store";
import type { ActualOrder } from "@junban/order-stories";
import { unlessAborted } from "./interruption.ts";
import type { DecidedEvent } from "./verdict.ts";

/** Everything that is stored about the orders, read through the store's own face. */
export interface StoredOrders {
  readonly events: readonly DecidedEvent[];
  readonly orders: readonly ActualOrder[];
  readonly audit: ReadonlyMap<string, readonly string[]>;
}

export interface ReadingStored {
  readonly store: OrderStore;
  readonly lcids: readonly string[];
  readonly signal: AbortSignal;
  readonly onProgress: (step: "reading" | "auditing", orders: number) => void;
}

const ORDERS_AT_ONCE = 4;

export async function readStored({ store, lcids, signal, onProgress }: ReadingStored): Promise<StoredOrders> {
  const events: DecidedEvent[] = [];
  const orders: ActualOrder[] = [];
  for (let start = 0; start < lcids.length; start += ORDERS_AT_ONCE) {
    const some = lcids.slice(start, start + ORDERS_AT_ONCE);
    const read = Promise.all(some.map(async (lcid) => readOne(store, lcid)));
    for (const one of await unlessAborted(read, signal)) {
      events.push(...one.events);
      if (one.order !== null) orders.push(one.order);
    }
    onProgress("reading", start + some.length);
  }
  const audit = new Map<string, readonly string[]>();
  let audited = 0;
  for await (const { lcid, differences } of store.audit()) {
    signal.throwIfAborted();
    if (differences.length > 0) {
      audit.set(
        lcid,
        differences.map((difference) => sentenceOf(lcid, difference)),
      );
    }
    audited += 1;
    onProgress("auditing", audited);
  }
  return { events, orders, audit };
}

async function readOne(
  store: OrderStore,
  lcid: string,
): Promise<{ events: readonly DecidedEvent[]; order: ActualOrder | null }> {
  const [history, report] = await Promise.all([store.readHistory(lcid), store.readOrder(lcid)]);
  const events = history.map(({ seq, source, id, outcome, reason, version }) => ({
    lcid,
    seq,
    source,
    id,
    outcome,
    reason,
    version,
  }));
  return { events, order: report === null ? null : figuresOf(report, events) };
}

/** The reference counts what waits for another event, not what waits for a newer build. */
function figuresOf(report: OrderReport, events: readonly DecidedEvent[]): ActualOrder {
  const held = events.filter(
    ({ outcome, reason }) => outcome === "deferred" && reason !== "UNSUPPORTED",
  ).length;
  return { ...report, held };
}

function sentenceOf(lcid: string, { field, stored, folded }: AuditDifference): string {
  return `${lcid}: ${field} is ${JSON.stringify(stored)}, its history gives ${JSON.stringify(folded)}`;
}
