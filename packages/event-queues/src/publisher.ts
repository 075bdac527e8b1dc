import type { RedisAddress } from "./connection.ts";
import type { PublishError } from "./errors.ts";

export interface PublisherOptions {
  /** A client given here lends its address and credentials; the publisher opens a connection of its own. */
  readonly redis: RedisAddress;
  /** Default `junban`. */
  readonly prefix?: string;
  /** Requests that may stand in one lane. Default 10,000. */
  readonly laneCap?: number;
  /** Lifetime of an untouched lane, in milliseconds. Default 7 days. */
  readonly laneTtlMs?: number;
  /** Replicas that must confirm before an event is acknowledged. Default 0. */
  readonly waitReplicas?: number;
  /** Longest time without any progress before everything unacknowledged is refused. Default 5,000. */
  readonly timeoutMs?: number;
}

/** An acknowledged event: its request stands in the lane, its job in the queue. */
export interface Published {
  readonly lcid: string;
  /** The request key: the same event published again has the same one. */
  readonly key: string;
  /** How many requests stood in the lane up to and including this one. */
  readonly depth: number;
  /** BullMQ priority its job got. */
  readonly priority: number;
}

export type PublishResult =
  | ({ readonly kind: "published" } & Published)
  | { readonly kind: "refused"; readonly error: PublishError };

export interface Publisher {
  /** Resolves once lane and job are both in Redis; rejects with a {@link PublishError}. Publishing again is always safe. */
  publish(event: unknown): Promise<Published>;
  /** One result per event, in the given order. Never rejects because of an event or of Redis. */
  publishAll(events: readonly unknown[]): Promise<readonly PublishResult[]>;
  /** Lets what is under way finish, within `timeoutMs`; later calls are refused with code `CLOSED`. */
  close(): Promise<void>;
}

export function createPublisher(options: PublisherOptions): Publisher {
  throw new Error(`not built yet: ${options.prefix ?? ""}`);
}
