import type { OrderStore } from "@junban/order-store";

export interface Decision {
  readonly source: string;
  readonly id: string;
  readonly lcid: string;
  /** Place among all first decisions. */
  readonly seq: number;
  readonly outcome: string;
  /** Redis time at publication, and server time of the decision. */
  readonly publishedAtMs: number;
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
    for (const { source, id, lcid, seq, outcome, publishedAt, decidedAt } of histories.flat()) {
      const [publishedAtMs, decidedAtMs] = [publishedAt.getTime(), decidedAt.getTime()];
      found.push({ source, id, lcid, seq, outcome, publishedAtMs, decidedAtMs });
    }
  }
  return found.toSorted((one, other) => one.seq - other.seq);
}
