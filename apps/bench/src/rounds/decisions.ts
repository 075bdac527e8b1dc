import type { OrderStore } from "@junban/order-store";

export interface Decision {
  readonly source: string;
  readonly id: string;
  readonly lcid: string;
  /** Place among all first decisions. */
  readonly seq: number;
  readonly outcome: string;
  /** The server's clock at the statement that wrote the decision, before its COMMIT was flushed; of several decisions the last. */
  readonly decidedAtMs: number;
}

const ORDERS_AT_ONCE = 4;

/** Rows of `order_events` for these orders, in order of `seq`. */
export async function readDecisions(
  store: Pick<OrderStore, "readHistory">,
  lcids: readonly string[],
): Promise<readonly Decision[]> {
  const asked = [...new Set(lcids)];
  const found: Decision[] = [];
  for (let start = 0; start < asked.length; start += ORDERS_AT_ONCE) {
    const some = asked.slice(start, start + ORDERS_AT_ONCE);
    const histories = await Promise.all(some.map(async (lcid) => store.readHistory(lcid)));
    for (const { source, id, lcid, seq, outcome, decidedAt } of histories.flat()) {
      found.push({ source, id, lcid, seq, outcome, decidedAtMs: decidedAt.getTime() });
    }
  }
  return found.toSorted((one, other) => one.seq - other.seq);
}
