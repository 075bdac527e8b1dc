import { hostname } from "node:os";
import { createQueueReader, openRawQueues } from "@junban/event-queues";
import type { RawQueues } from "@junban/event-queues";
import { createLanes } from "@junban/handoff-lock";
import type { Lanes } from "@junban/handoff-lock";
import type { Fleet } from "@junban/operations";
import { createOrderStore } from "@junban/order-store";
import type { Config } from "@junban/service";
import { Redis } from "ioredis";

export interface Services {
  readonly fleet: Fleet;
  readonly rawQueues: RawQueues;
  close(): Promise<void>;
}

/** How long a page waits for Redis. */
const ANSWER_WITHIN_MS = 3_000;

/** Opens nothing that has to be there: a console that starts while a service is away shows the rest. */
export function openServices(config: Config): Services {
  const { redisUrl, prefix } = config;
  const store = createOrderStore({
    databaseUrl: config.databaseUrl,
    poolSize: 1,
    statementTimeoutMs: config.statementTimeoutMs,
    lockTimeoutMs: config.lockTimeoutMs,
    idleTransactionTimeoutMs: config.idleTransactionTimeoutMs,
    holdPaymentMs: config.holdPaymentMs,
    holdMs: config.holdMs,
    poison: config.poison,
    worker: `console@${hostname()}`,
  });
  const queues = createQueueReader({ redis: redisUrl, prefix, timeoutMs: ANSWER_WITHIN_MS });
  const rawQueues = openRawQueues({ redis: redisUrl, prefix, timeoutMs: ANSWER_WITHIN_MS });
  const { lanes, close: closeLanes } = openLanes(config);
  return {
    fleet: { store, queues, lanes },
    rawQueues,
    close: async () => {
      rawQueues.close();
      await Promise.allSettled([queues.close(), closeLanes(), store.close()]);
    },
  };
}

function openLanes(config: Config): { lanes: Lanes; close: () => Promise<void> } {
  const redis = new Redis(config.redisUrl, {
    // Whoever waits for a page is told at once that Redis is away.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: ANSWER_WITHIN_MS,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
  });
  redis.on("error", () => undefined);
  const lanes = createLanes({
    redis,
    // The console never waits in a lane, so there is nothing to listen to.
    subscriber: redis.duplicate({ lazyConnect: true }),
    prefix: config.prefix,
    leaseMs: config.leaseMs,
    laneTtlMs: config.laneTtlMs,
    commandTimeoutMs: ANSWER_WITHIN_MS,
  });
  return {
    lanes,
    close: async () => {
      await lanes.close();
      redis.disconnect();
    },
  };
}
