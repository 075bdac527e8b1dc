import { EvictingRedisError, openAddresses, refuseEviction } from "@junban/event-queues";
import { refuseOldSchema, SchemaBehindError } from "@junban/order-store";
import { openRelay } from "@junban/relay";
import { createProcessMetrics, reachWithin, readConfig, runProcess, startHttpServer } from "@junban/service";
import type { Config, HealthServer, ProcessMetrics, ProcessTools } from "@junban/service";
import { startTracing } from "@junban/tracing";
import type { FleetWorker } from "./fleet-worker.ts";
import { openFleet } from "./open-fleet.ts";
import { openServices } from "./services.ts";
import type { Services, ServicesOptions } from "./services.ts";

export interface RunWorkerOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Seam: decides events instead of the domain. */
  readonly decide?: ServicesOptions["decide"];
}

/** What closing connections may take, out of the grace. */
const CLOSING_MS = 3_000;
/** What ending the relay may take. Another leads as soon as this process is gone, and queues at most the same news again. */
const RELAY_ENDS_MS = 2_000;
/** Refused it is not: the network may be private, which nothing here can tell. */
const OPEN_REDIS = "Redis lets in whoever reaches it, without a password; junban doctor says what to do";

/**
 * The whole life of a fleet process, from its environment to its exit code: configuration, health server, both services
 * reached and fit, fleet started; then, when asked to stop, everything in the opposite order. Never rejects.
 */
export async function runWorker({ env, decide }: RunWorkerOptions): Promise<void> {
  await runProcess({
    name: "worker",
    read: () => ({ config: readConfig(env), ...(decide === undefined ? {} : { decide }) }),
    start,
    isMisuse: (error) => error instanceof EvictingRedisError,
  });
}

interface Start extends ProcessTools {
  readonly config: Config;
  readonly decide?: ServicesOptions["decide"];
}

async function start({ config, logger, shutdown, decide }: Start): Promise<void> {
  let worker: FleetWorker | null = null;
  // First of all, so that a process which waits for its services is seen to live, and so that a port in use ends it early,
  // with nothing else open yet.
  const { http, registry } = await startHealth(config, () => worker);
  const services = openServices({ config, ...(decide === undefined ? {} : { decide }) });
  const started = await startTracing({ settings: config.traces, serviceName: "junban-worker", logger });
  const tracing = started ?? undefined;
  // The last steps of the end. The fleet's own, added below, has to come before them.
  const closeRest = { name: "connections", run: () => closeAll([services, tracing]) };
  const closeHttp = { name: "health server", run: () => http.close() };
  try {
    await checkServices({ config, logger, shutdown, services });
    shutdown.signal.throwIfAborted();
    const fleet = openFleet({ config, services, logger, registry, tracing });
    worker = fleet.worker;
    const deadlineMs = Math.max(config.shutdownGraceMs - CLOSING_MS, config.shutdownGraceMs / 2);
    shutdown.add({ name: "fleet", run: () => fleet.close({ deadlineMs }) });
    if (config.relay === "on") {
      const relay = openRelay({ config, worker: services.name, logger, registry, tracing });
      // Behind the fleet, whose last commits it still may pass on.
      shutdown.add({ name: "relay", run: () => relay.close({ deadlineMs: RELAY_ENDS_MS }) });
    }
  } finally {
    shutdown.add(closeRest);
    shutdown.add(closeHttp);
  }
  const { families, concurrency, leaseMs, prefix } = config;
  logger.info({ families, concurrency, leaseMs, prefix, httpPort: http.port }, "the worker serves");
}

/** Side by side, so that spans which nobody takes cost the grace nothing. */
async function closeAll(parts: readonly ({ close(): Promise<void> } | undefined)[]): Promise<void> {
  await Promise.all(parts.map(async (part) => part?.close()));
}

async function startHealth(
  config: Config,
  worker: () => FleetWorker | null,
): Promise<{ http: HealthServer; registry: ProcessMetrics["registry"] }> {
  const ready = async (): Promise<{ ok: boolean; detail: object }> =>
    (await worker()?.ready()) ?? { ok: false, detail: { consumption: "starting" } };
  const metrics = createProcessMetrics({ process: "worker", ready });
  const http = await startHttpServer({
    host: config.httpHost,
    port: config.httpPort,
    // An answer at all is the answer: the event loop turns.
    live: () => true,
    ready,
    metrics: () => metrics.text(),
  });
  return { http, registry: metrics.registry };
}

/** Waits for both services, and refuses those on which the promises would not hold. */
async function checkServices({
  config,
  logger,
  shutdown,
  services,
}: Start & { readonly services: Services }): Promise<void> {
  const say = (line: string): void => logger.warn({}, line);
  const { redisUrl, databaseUrl } = config;
  const { signal } = shutdown;
  await reachWithin({
    service: "Redis",
    address: redisUrl,
    probe: async () => {
      await services.probeRedis();
      await refuseEviction(services.redis);
      const openAt = await openAddresses(services.redis);
      if (openAt.length > 0) logger.warn({ openAt }, OPEN_REDIS);
    },
    isFinal: (error) => error instanceof EvictingRedisError,
    say,
    signal,
  });
  await reachWithin({
    service: "Postgres",
    address: databaseUrl,
    probe: () => refuseOldSchema({ databaseUrl }),
    isFinal: (error) => error instanceof SchemaBehindError,
    say,
    signal,
  });
}
