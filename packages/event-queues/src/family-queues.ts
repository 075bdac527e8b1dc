import { FAMILIES } from "@junban/orders";
import type { Family } from "@junban/orders";
import type { Redis } from "ioredis";
import { queueNameOf } from "./names.ts";
import { openQueue } from "./open-queue.ts";
import type { EventQueue } from "./open-queue.ts";

export type FamilyQueues = Readonly<Record<Family, EventQueue>>;

/** A handle on each family's queue, over one connection that the caller owns. */
export function openFamilyQueues(client: Redis, { prefix }: { readonly prefix: string }): FamilyQueues {
  const open = (family: Family): [Family, EventQueue] => [
    family,
    openQueue(client, { prefix, queueName: queueNameOf(family) }),
  ];
  return Object.fromEntries(FAMILIES.map(open)) as FamilyQueues;
}
