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

const SUBSCRIBER_NAME = /^[0-9A-Za-z_-]{1,48}$/;

/** A subscriber's name becomes part of keys and of a queue's name: 1 to 48 letters, digits, - and _. */
export function isSubscriberName(name: string): boolean {
  return SUBSCRIBER_NAME.test(name);
}

/** The queue that one name's consumers share. BullMQ refuses a colon in a queue's name. */
export function updatesQueueOf(name: string): string {
  return `{order-updates.${name}}`;
}
