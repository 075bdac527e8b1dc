import { consume, EvictionWatch, refuseEviction } from "@junban/event-queues";
import type { ConsumeOptions } from "@junban/event-queues";
import { createLanes } from "@junban/handoff-lock";
import type { LanesOptions } from "@junban/handoff-lock";
import type { OrderStore } from "@junban/order-store";
import type { Config } from "@junban/service";
import type { Tracing } from "@junban/tracing";
import type { Redis } from "ioredis";
import { Registry } from "prom-client";
import { endWithin } from "./end-within.ts";
import { createFleetWorker } from "./fleet-worker.ts";
import type { FleetWorker } from "./fleet-worker.ts";
import { exposeLimits } from "./limit-gauges.ts";
import type { FleetLogger, StartConsuming } from "./ports.ts";
import type { Services } from "./services.ts";

export interface OpenFleetOptions {
  readonly config: Config;
  readonly services: Services;
  readonly logger: FleetLogger;
  /** Where the metrics live; default a registry of the worker's own. */
  readonly registry?: Registry;
  /** Present when the way of events is traced. */
  readonly tracing?: Pick<Tracing, "jobs" | "apply"> | undefined;
}

export interface OpenFleet {
  readonly worker: FleetWorker;
  /** Stops the worker and leaves its lanes, within `deadlineMs` and at most a second more. The services stay open. */
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

type Handlers = Parameters<StartConsuming>[0];

/** Longest wait for lanes to be left once nothing is served any more. */
const LEAVING_MS = 1_000;

/** Starts one fleet process on open services: jobs are fetched from here on. */
export function openFleet({
  config,
  services,
  logger,
  registry = new Registry(),
  tracing,
}: OpenFleetOptions): OpenFleet {
  const { redis } = services;
  exposeLimits(registry, config);
  let leaseLost: FleetWorker["leaseLost"] = () => {};
  const lanes = createLanes({
    ...laneOptions(config, redis),
    prefix: config.prefix,
    onLeaseLost: (_lcid, why) => {
      if (why !== "closed") leaseLost(why);
    },
    onHealed: (lcid) => {
      logger.warn({ lcid }, "a lane's keys held what no worker puts there; it was dropped");
    },
  });
  // A prefix of its own: whatever an order is called, it cannot stand in the sweeper's lane.
  const maintenance = createLanes({ ...laneOptions(config, redis), prefix: `${config.prefix}-maintenance` });
  const evictionWatch = new EvictionWatch({ check: () => refuseEviction(redis), logger });
  const worker = createFleetWorker({
    config,
    lanes,
    maintenance,
    store: watchedStore(services.store, tracing),
    consume: (handlers) =>
      consume({ ...consumeOptions(config, redis), ...watchedHandlers(handlers, tracing) }),
    probeRedis: () => services.probeRedis(),
    pausedQueues: () => services.pausedQueues(),
    mayEvict: () => evictionWatch.mayEvict,
    logger,
    registry,
  });
  leaseLost = (why) => worker.leaseLost(why);
  return {
    worker,
    close: async ({ deadlineMs }) => {
      evictionWatch.stop();
      await worker.stop({ deadlineMs });
      await endWithin([lanes.close(), maintenance.close()], LEAVING_MS);
    },
  };
}

/** Where nobody traces, both are what they were: the way of an event then passes nothing more than before. */
function watchedStore(store: OrderStore, tracing: OpenFleetOptions["tracing"]): OrderStore {
  return tracing === undefined
    ? store
    : { ...store, apply: tracing.apply((batches) => store.apply(batches)) };
}

function watchedHandlers(handlers: Handlers, tracing: OpenFleetOptions["tracing"]): Handlers {
  return tracing === undefined ? handlers : { ...handlers, process: tracing.jobs(handlers.process) };
}

function laneOptions(config: Config, redis: Redis): LanesOptions {
  const { leaseMs, laneTtlMs, laneCap, laneBatch, waitMs, pollMs } = config;
  return { redis, leaseMs, laneTtlMs, cap: laneCap, batch: laneBatch, waitMs, pollMs };
}

function consumeOptions(
  config: Config,
  redis: Redis,
): Omit<ConsumeOptions, "process" | "onError" | "onUnreadable"> {
  const { prefix, families, concurrency, leaseMs, keepFailed } = config;
  return { redis, prefix, families, concurrency, lockDurationMs: leaseMs, keepFailed };
}
