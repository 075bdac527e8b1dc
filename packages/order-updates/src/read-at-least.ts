import { setTimeout as sleep } from "node:timers/promises";
import { StaleReadError } from "./errors.ts";

const AGAIN_AFTER_MS = 50;

/**
 * Reads an order at the update's version or a later one. A read of Junban's primary is never older, since a notice is sent
 * after the commit; a replica may lag behind, and is asked again until it has caught up.
 *
 * @param options.read one committed read, such as `store.readOrder`; null when the order is not there.
 * @param options.withinMs how long to keep asking, milliseconds. Default 5,000.
 * @throws {StaleReadError} when it did not catch up in time; also when the order has been purged.
 */
export async function readAtLeast<Order extends { readonly version: number }>(
  { lcid, version }: { readonly lcid: string; readonly version: number },
  options: { read(lcid: string): Promise<Order | null>; readonly withinMs?: number },
): Promise<Order> {
  const endsAtMs = performance.now() + (options.withinMs ?? 5_000);
  for (;;) {
    const order = await options.read(lcid);
    if (order !== null && order.version >= version) return order;
    if (performance.now() >= endsAtMs) {
      throw new StaleReadError({ lcid, wanted: version, got: order?.version ?? null });
    }
    await sleep(AGAIN_AFTER_MS);
  }
}
