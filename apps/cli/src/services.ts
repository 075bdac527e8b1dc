import { hostname } from "node:os";
import { createPublisher, createQueueReader, type Publisher, type QueueReader } from "@junban/event-queues";
import { createLanes, type Lanes } from "@junban/handoff-lock";
import type { Fleet } from "@junban/operations";
import { createOrderStore, type OrderStore } from "@junban/order-store";
import { readConfig, withoutPassword, type Config } from "@junban/service";
import { Redis } from "ioredis";

type Need = "database" | "redis";

/** What a command may open. Each is opened on first use and closed by `close`, whatever happened in between. */
export interface Services {
  readonly config: Config;
  store(): OrderStore;
  lanes(): Lanes;
  queues(): QueueReader;
  publisher(): Publisher;
  /** Store, lanes and queues together. */
  fleet(): Fleet;
  close(): Promise<void>;
}

/** How long a command waits for Redis to answer one call, in milliseconds. */
const ANSWER_WITHIN_MS = 5_000;

/** Checks the environment for what the command needs, and nothing else. @throws {ConfigError} */
export function servicesFor(env: NodeJS.ProcessEnv, need: readonly Need[]): Services {
  const config = readConfig(env, need) as Config;
  const closing: (() => Promise<void>)[] = [];
  const opened = <Service>(open: () => { service: Service; close: () => Promise<void> }): (() => Service) => {
    let service: Service | undefined;
    return () => {
      if (service === undefined) {
        const one = open();
        service = one.service;
        closing.push(one.close);
      }
      return service;
    };
  };
  const store = opened(() => {
    const service = openStore(config);
    return { service, close: () => service.close() };
  });
  const lanes = opened(() => openLanes(config));
  const queues = opened(() => {
    const service = createQueueReader({
      redis: config.redisUrl,
      prefix: config.prefix,
      timeoutMs: ANSWER_WITHIN_MS,
    });
    return { service, close: () => service.close() };
  });
  return {
    config,
    store,
    lanes,
    queues,
    fleet: () => ({ store: store(), lanes: lanes(), queues: queues() }),
    publisher: opened(() => {
      const { redisUrl: redis, prefix, laneCap, laneTtlMs } = config;
      const service = createPublisher({ redis, prefix, laneCap, laneTtlMs, timeoutMs: ANSWER_WITHIN_MS });
      return { service, close: () => service.close() };
    }),
    close: async () => {
      await Promise.allSettled(closing.map((close) => close()));
    },
  };
}

function openStore(config: Config): OrderStore {
  return createOrderStore({
    databaseUrl: config.databaseUrl,
    poolSize: 2,
    statementTimeoutMs: config.statementTimeoutMs,
    lockTimeoutMs: config.lockTimeoutMs,
    idleTransactionTimeoutMs: config.idleTransactionTimeoutMs,
    holdPaymentMs: config.holdPaymentMs,
    holdMs: config.holdMs,
    poison: config.poison,
    worker: `cli@${hostname()}`,
  });
}

function openLanes(config: Config): { service: Lanes; close: () => Promise<void> } {
  const redis = new Redis(config.redisUrl, { maxRetriesPerRequest: 1, connectTimeout: ANSWER_WITHIN_MS });
  // Each call answers for itself.
  redis.on("error", () => undefined);
  const service = createLanes({
    redis,
    // A command never waits in a lane, so there is nothing to listen to.
    subscriber: redis.duplicate({ lazyConnect: true }),
    prefix: config.prefix,
    leaseMs: config.leaseMs,
    laneTtlMs: config.laneTtlMs,
    commandTimeoutMs: ANSWER_WITHIN_MS,
  });
  return {
    service,
    close: async () => {
      await service.close();
      redis.disconnect();
    },
  };
}

/** Where the services are, for messages; passwords left out. */
export function addressesOf(env: NodeJS.ProcessEnv): { redis: string; postgres: string } {
  const named = (url: string | undefined, name: string): string =>
    url === undefined ? `(${name} is not set)` : withoutPassword(url);
  return {
    redis: named(env["REDIS_URL"], "REDIS_URL"),
    postgres: named(env["DATABASE_URL"], "DATABASE_URL"),
  };
}
