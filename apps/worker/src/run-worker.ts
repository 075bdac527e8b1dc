import { migrationStatus } from "@junban/order-store";
import {
  createLogger,
  createProcessMetrics,
  createShutdown,
  EXIT,
  exitCodeOf,
  reachWithin,
  readConfig,
  startHttpServer,
} from "@junban/service";
import type { Config, Logger, ProcessMetrics, Shutdown } from "@junban/service";
import type { FleetWorker } from "./fleet-worker.ts";
import { openFleet } from "./open-fleet.ts";
import { EvictingRedisError, refuseEviction } from "./redis-connection.ts";
import { openServices } from "./services.ts";
import type { Services, ServicesOptions } from "./services.ts";

export interface RunWorkerOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Seam: decides events instead of the domain. */
  readonly decide?: ServicesOptions["decide"];
}

/** Thrown when the schema lacks migrations that this build needs. */
class SchemaBehindError extends Error {
  readonly code = "SCHEMA_BEHIND";
  readonly pending: readonly string[];

  constructor({ pending }: { pending: readonly string[] }) {
    super(`the database lacks ${pending.length} migrations (next: ${pending[0]}); run junban migrate`);
    this.name = "SchemaBehindError";
    this.pending = pending;
  }
}

/** What closing connections may take, out of the grace. */
const CLOSING_MS = 3_000;

/**
 * The whole life of a fleet process, from its environment to its exit code: configuration, health server, both services
 * reached and fit, fleet started; then, when asked to stop, everything in the opposite order. Never rejects.
 */
export async function runWorker({ env, decide }: RunWorkerOptions): Promise<void> {
  // Whether anybody reads what a person should is no matter of life and death, here or in any warning of the runtime's.
  process.stderr.on("error", () => undefined);
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    // There is no logger yet, and a person reads this.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = exitCodeOf(error);
    return;
  }
  const logger = createLogger({ name: "worker", level: config.logLevel });
  const shutdown = createShutdown({ graceMs: config.shutdownGraceMs, logger });
  try {
    await start({ config, logger, shutdown, ...(decide === undefined ? {} : { decide }) });
  } catch (error) {
    // Being asked to stop in the middle of the start is no failure of the start.
    if (shutdown.signal.aborted) return;
    logger.fatal({ err: error }, "the worker cannot start");
    await shutdown.begin("the start failed", exitCode(error));
  }
}

function exitCode(error: unknown): number {
  // Like a bad variable: a restart alone does not help.
  return error instanceof EvictingRedisError ? EXIT.usage : exitCodeOf(error);
}

interface Start {
  readonly config: Config;
  readonly logger: Logger;
  readonly shutdown: Shutdown;
  readonly decide?: ServicesOptions["decide"];
}

async function start({ config, logger, shutdown, decide }: Start): Promise<void> {
  const metrics = createProcessMetrics();
  let worker: FleetWorker | null = null;
  // First of all, so that a process which waits for its services is seen to live, and so that a port in use ends it early,
  // with nothing else open yet.
  const http = await startHealth({ config, metrics, worker: () => worker });
  const services = openServices({ config, ...(decide === undefined ? {} : { decide }) });
  // The last steps of the end. The fleet's own, added below, has to come before them.
  const closeRest = { name: "connections", run: () => services.close() };
  const closeHttp = { name: "health server", run: () => http.close() };
  try {
    await checkServices({ config, logger, shutdown, services });
    shutdown.signal.throwIfAborted();
    const fleet = openFleet({ config, services, logger, registry: metrics.registry });
    worker = fleet.worker;
    const deadlineMs = Math.max(config.shutdownGraceMs - CLOSING_MS, config.shutdownGraceMs / 2);
    shutdown.add({ name: "fleet", run: () => fleet.close({ deadlineMs }) });
  } finally {
    shutdown.add(closeRest);
    shutdown.add(closeHttp);
  }
  const { families, concurrency, leaseMs, prefix } = config;
  logger.info({ families, concurrency, leaseMs, prefix, httpPort: http.port }, "the worker serves");
}

async function startHealth(options: {
  readonly config: Config;
  readonly metrics: ProcessMetrics;
  readonly worker: () => FleetWorker | null;
}): Promise<Awaited<ReturnType<typeof startHttpServer>>> {
  const { config, metrics, worker } = options;
  return startHttpServer({
    host: config.httpHost,
    port: config.httpPort,
    // An answer at all is the answer: the event loop turns.
    live: () => true,
    ready: async () => (await worker()?.ready()) ?? { ok: false, detail: { consumption: "starting" } },
    metrics: () => metrics.text(),
  });
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
  await reachWithin({ service: "Redis", address: redisUrl, probe: () => services.probeRedis(), say, signal });
  await reachWithin({
    service: "Postgres",
    address: databaseUrl,
    probe: () => services.store.ping(),
    say,
    signal,
  });
  await refuseEviction(services.redis);
  const { pending } = await migrationStatus({ databaseUrl });
  if (pending.length > 0) throw new SchemaBehindError({ pending });
}
