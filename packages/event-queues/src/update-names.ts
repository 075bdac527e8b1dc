import { QUEUE_PREFIX } from "./names.ts";

/** Where the relay puts what was committed: one job for each version of an order. */
export const UPDATES_QUEUE = "{order-updates}";

/** The set of names that are subscribed; each has a queue of its own. */
export function updateNamesKey(prefix = QUEUE_PREFIX): string {
  return `${prefix}:order-updates:names`;
}

/** The queue that one name's consumers share. BullMQ refuses a colon in a queue's name. */
export function updatesQueueOf(name: string): string {
  return `{order-updates.${name}}`;
}
