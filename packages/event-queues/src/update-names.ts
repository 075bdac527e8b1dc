import { QUEUE_PREFIX } from "./names.ts";

/** Where the relay puts what was committed: one job for each version of an order. In braces, so that its keys share a Cluster slot. */
export const UPDATES_QUEUE = "{order-updates}";

/**
 * The id of the job that tells of one version of an order. The same news always have the same one, so that a second job is not
 * made while the first is there. BullMQ takes no colon in it, and no lcid has an exclamation mark.
 */
export function updateJobId({ lcid, version }: { readonly lcid: string; readonly version: number }): string {
  return `${encodeURIComponent(lcid)}!${version}`;
}

/** The set of names that are subscribed; each has a queue of its own. */
export function updateNamesKey(prefix = QUEUE_PREFIX): string {
  return `${prefix}:order-updates:names`;
}

/** The queue that one name's consumers share. BullMQ refuses a colon in a queue's name. */
export function updatesQueueOf(name: string): string {
  return `{order-updates.${name}}`;
}
