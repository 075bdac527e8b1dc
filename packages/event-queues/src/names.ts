import type { Family } from "@junban/orders";

/** Key prefix of everything in Redis, lanes and queues alike, unless `JUNBAN_PREFIX` says otherwise. */
export const QUEUE_PREFIX = "junban";

/**
 * The queue of each family. The braces are a Redis Cluster hash tag: all keys of one queue fall into one slot, which
 * BullMQ's scripts need. Any BullMQ client that uses the same prefix and name reaches the same queue.
 */
export const FAMILY_QUEUES: Readonly<Record<Family, string>> = {
  payment: "{payment}",
  inventory: "{inventory}",
  "line-item": "{line-item}",
  cancel: "{cancel}",
};

export function queueNameOf(family: Family): string {
  return FAMILY_QUEUES[family];
}

/**
 * Name of a consumer's blocking connection, by which `CLIENT LIST` shows who consumes. The same form as BullMQ's own, so
 * its dashboards count our workers too.
 */
export function consumerConnectionName(consumer: {
  readonly prefix: string;
  readonly family: Family;
  readonly consumerId: string;
}): string {
  return `${consumerConnectionPrefix(consumer)}${consumer.consumerId}`;
}

export function consumerConnectionPrefix({
  prefix,
  family,
}: {
  readonly prefix: string;
  readonly family: Family;
}): string {
  return connectionPrefixOf({ prefix, queueName: queueNameOf(family) });
}

/** How the names of all connections begin that wait for jobs of a queue. */
export function connectionPrefixOf({
  prefix,
  queueName,
}: {
  readonly prefix: string;
  readonly queueName: string;
}): string {
  return `${prefix}:${Buffer.from(queueName).toString("base64")}:w:`;
}
