import { createPublisher, createQueueReader } from "@junban/event-queues";
import type { QueueReader } from "@junban/event-queues";
import {
  createLogger,
  createProcessMetrics,
  createShutdown,
  errorLine,
  EXIT,
  exitCodeOf,
  readConfig,
  startHttpServer,
} from "@junban/service";
import type { Config, Logger, Shutdown } from "@junban/service";
import { createForwarder, migrateUpstream, OutboxConnectionError } from "@junban/upstream-outbox";
import type { Forwarder } from "@junban/upstream-outbox";
import { ForwardMetrics } from "./metrics.ts";

export interface RunForwarderOptions {
  readonly env: NodeJS.ProcessEnv;
  /** `migrate` installs the outbox and ends; nothing forwards. */
  readonly args?: readonly string[];
}

/**
 * The whole life of the process, from its environment to its exit code. It waits for services that are away instead of giving up, and
 * `/readyz` says so. Never rejects.
 */
export async function runForwarder({ env, args = [] }: RunForwarderOptions): Promise<void> {
  process.stderr.on("error", () => undefined);
  const isMigration = args[0] === "migrate";
  let config: Config<"database"> | Config;
  try {
    if (args.length > (isMigration ? 1 : 0)) throw new UsageError();
    config = isMigration ? readConfig(env, ["database"]) : readConfig(env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof UsageError ? EXIT.usage : exitCodeOf(error);
    return;
  }
  if (isMigration) await migrate(config.databaseUrl);
  else await forward(config as Config);
}

class UsageError extends Error {
  readonly code = "USAGE";

  constructor() {
    super("usage: npm run forward [-- migrate]");
    this.name = "UsageError";
  }
}

async function migrate(databaseUrl: string): Promise<void> {
  try {
    const applied = await migrateUpstream({ databaseUrl });
    process.stdout.write(applied.length === 0 ? "nothing to do\n" : `applied ${applied.join(", ")}\n`);
  } catch (error) {
    process.stderr.write(`${errorLine(error)}\n`);
    process.exitCode = error instanceof OutboxConnectionError ? EXIT.unreachable : exitCodeOf(error);
  }
}

async function forward(config: Config): Promise<void> {
  const logger = createLogger({ name: "forwarder", level: config.logLevel });
  const shutdown = createShutdown({ graceMs: config.shutdownGraceMs, logger });
  try {
    await start({ config, logger, shutdown });
  } catch (error) {
    if (shutdown.signal.aborted) return;
    logger.fatal({ err: error }, "the forwarder cannot start");
    await shutdown.begin("the start failed", exitCodeOf(error));
  }
}

async function start(options: {
  readonly config: Config;
  readonly logger: Logger;
  readonly shutdown: Shutdown;
}): Promise<void> {
  const { config, logger, shutdown } = options;
  const { databaseUrl, redisUrl, prefix, laneCap, laneTtlMs, pollMs, leaseMs } = config;
  const processMetrics = createProcessMetrics();
  let forwarder: Forwarder | null = null;
  const metrics = new ForwardMetrics({ registry: processMetrics.registry, forwarder: () => forwarder });
  const queues = createQueueReader({ redis: redisUrl, prefix });
  const http = await startHttpServer({
    host: config.httpHost,
    port: config.httpPort,
    live: () => true,
    ready: () => readiness(forwarder, queues),
    metrics: () => processMetrics.text(),
  });
  const publisher = createPublisher({
    redis: redisUrl,
    prefix,
    laneCap,
    laneTtlMs,
    waitReplicas: config.forwardReplicas,
  });
  const opened = createForwarder({
    databaseUrl,
    publisher,
    pollMs,
    leaseMs,
    keepMs: config.forwardKeepMs,
    observer: {
      forwarded: (rows) => metrics.forwarded(rows),
      parked: (row) => {
        metrics.parked();
        logger.error({ ...row }, "an event can never be published; it is parked, and later ones pass it");
      },
      trouble: (error) => logger.warn({ err: error }, "something stands in the way of forwarding"),
    },
  });
  forwarder = opened;
  shutdown.add({ name: "forwarder", run: () => opened.close() });
  shutdown.add({ name: "publisher", run: () => publisher.close() });
  shutdown.add({ name: "queue reader", run: () => queues.close() });
  shutdown.add({ name: "health server", run: () => http.close() });
  logger.info({ prefix, leaseMs, pollMs, httpPort: http.port }, "the forwarder runs");
}

const REDIS_LIMIT_MS = 2_000;

/** A standby is ready: it can take over. Redis is asked in any case, since that is what it would need then. */
async function readiness(
  forwarder: Forwarder | null,
  queues: QueueReader,
): Promise<{ ok: boolean; detail: object }> {
  const { role, trouble } = forwarder?.state() ?? { role: "connecting", trouble: null };
  const redis = (await answers(queues)) ? "answers" : "silent";
  const postgres = role === "active" || role === "standby" ? "answers" : "silent";
  const ok = redis === "answers" && postgres === "answers" && trouble === null;
  return { ok, detail: { redis, postgres, role, ...(trouble === null ? {} : { why: trouble }) } };
}

async function answers(queues: QueueReader): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, REDIS_LIMIT_MS, false);
  });
  const asked = queues.counts().then(
    () => true,
    () => false,
  );
  const result = await Promise.race([asked, late]);
  clearTimeout(timer);
  return result;
}
