import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { createQueueReader } from "@junban/event-queues";
import { createOrderStore } from "@junban/order-store";
import type { OrderStore, OrderStoreOptions } from "@junban/order-store";
import type { Family } from "@junban/orders";
import type { Config } from "@junban/service";
import type { Redis } from "ioredis";
import { endWithin } from "./end-within.ts";
import { connectRedis } from "./redis-connection.ts";

export interface ServicesOptions {
  readonly config: Config;
  /** Seam: decides events instead of the domain. */
  readonly decide?: OrderStoreOptions["decide"];
}

/** The connections of one fleet process. Opening them waits for nothing: each use says whether the service answers. */
export interface Services {
  readonly redis: Redis;
  readonly store: OrderStore;
  /** What this process is called in the rows it decides, and beside its connections. */
  readonly name: string;
  /** Resolves when Redis answers a question about the queues. */
  probeRedis(): Promise<void>;
  /** The queues of this process's families that somebody paused. */
  pausedQueues(): Promise<readonly Family[]>;
  /** Closes all of them, bounded even when a service does not answer. */
  close(): Promise<void>;
}

/** Longest wait for a connection to say goodbye before it is simply dropped. */
const GOODBYE_MS = 1_000;
/** A connection that owes an answer for so long is dropped and made anew; never so early that a slow answer looks like none. */
const SHORTEST_SILENCE_MS = 5_000;

export function openServices({ config, decide }: ServicesOptions): Services {
  const silenceMs = Math.max(SHORTEST_SILENCE_MS, config.leaseMs);
  const redis = connectRedis({ url: config.redisUrl, silenceMs });
  // Unheard, an error of the connection would end the process. Whoever waits for an answer reports what it did not get.
  redis.on("error", () => {});
  // Two starts on one host, or one process id used again, are still two workers in the rows they decided.
  const name = `${hostname()}:${process.pid}:${randomBytes(3).toString("hex")}`;
  const store = createOrderStore({ ...storeOptions(config, decide), worker: name });
  const queues = createQueueReader({ redis: config.redisUrl, prefix: config.prefix });
  return {
    redis,
    store,
    name,
    probeRedis: async () => {
      await queues.counts();
    },
    pausedQueues: async () => {
      const paused = await queues.paused();
      return paused.filter((family) => config.families.includes(family));
    },
    close: async () => {
      await endWithin([queues.close(), store.close()], GOODBYE_MS);
      // What was written last must reach Redis before the connection ends; a Redis that is away holds nobody up.
      if (redis.status === "ready") await endWithin([redis.quit()], GOODBYE_MS);
      redis.disconnect();
    },
  };
}

function storeOptions(
  config: Config,
  decide: OrderStoreOptions["decide"],
): Omit<OrderStoreOptions, "worker"> {
  return {
    databaseUrl: config.databaseUrl,
    poolSize: config.pgPool,
    statementTimeoutMs: config.statementTimeoutMs,
    lockTimeoutMs: config.lockTimeoutMs,
    idleTransactionTimeoutMs: config.idleTransactionTimeoutMs,
    // Just below the lease, or a frozen process could keep a row beyond it.
    transactionTimeoutMs: Math.min(
      config.statementTimeoutMs + config.lockTimeoutMs,
      Math.floor(config.leaseMs * 0.95),
    ),
    holdPaymentMs: config.holdPaymentMs,
    holdMs: config.holdMs,
    poison: config.poison,
    ...(decide === undefined ? {} : { decide }),
  };
}
