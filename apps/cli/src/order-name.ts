import { printable } from "@junban/operations";
import type { OrderStore } from "@junban/order-store";
import { excerptOf, isLcid, LCID_RULE } from "@junban/orders";
import { UsageError } from "./exit.ts";

/** @throws {UsageError} for what cannot be the name of any order. */
export function orderName(text: string): string {
  if (isLcid(text)) return text;
  throw new UsageError(`"${excerptOf(text)}" names no order: a name has ${LCID_RULE}`);
}

/** Why there is no such order, as far as is known. */
export async function whyAbsent(store: Pick<OrderStore, "readPurged">, lcid: string): Promise<string> {
  const [purged] = await store.readPurged([lcid]);
  return purged === undefined
    ? `there is no order ${printable(lcid)}: nothing of it was decided. It may stand in line: junban lane ${printable(lcid)}`
    : purgedSays(purged);
}

export function purgedSays({ lcid, purgedAt }: { readonly lcid: string; readonly purgedAt: Date }): string {
  return `${printable(lcid)} was finished, and purged on ${purgedAt.toISOString()}: its events are gone, and later ones of it are refused`;
}
