import { setTimeout as sleep } from "node:timers/promises";
import { createUpdatesPublisher, type UpdatesPublisher } from "@junban/event-queues";
import { openOutbox } from "@junban/order-store";
import type { Registry } from "prom-client";
import type { RelayLogger } from "./ports.ts";
import { RelayMetrics } from "./relay-metrics.ts";
import { createRelay, type Obstacle } from "./relay.ts";

export interface OpenRelayOptions {
  /** As a process reads it from its environment. */
  readonly config: {
    readonly databaseUrl: string;
    readonly redisUrl: string;
    readonly prefix: string;
    readonly updatesCap: number;
    readonly statementTimeoutMs: number;
  };
  /** What this process is called beside its connections. */
  readonly worker: string;
  readonly logger: RelayLogger;
  readonly registry: Registry;
  /** Present when the way of events is traced. */
  readonly tracing?: { updates(updates: UpdatesPublisher): UpdatesPublisher } | undefined;
}

export interface OpenRelay {
  /** True while this process is the one that passes news on. */
  readonly leads: boolean;
  /** What stands in the way at present; null while nothing does. */
  readonly obstacle: Obstacle | null;
  /**
   * Ends after the news in hand, lets another process lead, and closes the connections. What a service does not answer within
   * `deadlineMs` is left behind, and that is said: whoever leads next finds the rows, and queues at most the same news again.
   */
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

/** Whatever the fleet's own may take: what is read and deleted here is short, and ending waits for it. */
const LONGEST_STATEMENT_MS = 5_000;
/** Longest wait for Redis in one call: well below the silence after which the server takes the lead away. */
const REDIS_TIMEOUT_MS = 2_000;

/** A relay on connections of its own, so that neither it nor the fleet ever waits for the other. Waits for nothing. */
export function openRelay({ config, worker, logger, registry, tracing }: OpenRelayOptions): OpenRelay {
  const { databaseUrl, redisUrl, prefix, updatesCap: cap } = config;
  const statementTimeoutMs = Math.min(config.statementTimeoutMs, LONGEST_STATEMENT_MS);
  const outbox = openOutbox({ databaseUrl, worker, statementTimeoutMs });
  const plain = createUpdatesPublisher({ redis: redisUrl, prefix, timeoutMs: REDIS_TIMEOUT_MS });
  const updates = tracing === undefined ? plain : tracing.updates(plain);
  const relay = createRelay({ outbox, updates, cap, logger, observer: new RelayMetrics(registry) });
  return {
    get leads() {
      return relay.leads;
    },
    get obstacle() {
      return relay.obstacle;
    },
    close: async ({ deadlineMs }) => {
      const isOver = relay.stop().then(async () => {
        await Promise.all([outbox.close(), updates.close()]);
        return true;
      });
      const given = new AbortController();
      const late = sleep(deadlineMs, false, { signal: given.signal }).catch(() => false);
      const isClean = await Promise.race([isOver, late]);
      given.abort();
      if (isClean) return;
      logger.warn(
        { deadlineMs },
        "the relay ends without an answer; another one may queue the same news again",
      );
    },
  };
}
