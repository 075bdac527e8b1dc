import { createPublisher, EvictingRedisError, openRedisProbe } from "@junban/event-queues";
import type { RedisProbe } from "@junban/event-queues";
import {
  ConfigError,
  createProcessMetrics,
  errorLine,
  EXIT,
  exitCodeOf,
  readConfig,
  runProcess,
  startHttpServer,
} from "@junban/service";
import type { Config, ProcessTools } from "@junban/service";
import { startTracing } from "@junban/tracing";
import { createForwarder, migrateUpstream, OutboxConnectionError } from "@junban/upstream-outbox";
import type { Forwarder } from "@junban/upstream-outbox";
import { ForwardMetrics } from "./metrics.ts";

export interface RunForwarderOptions {
  readonly env: NodeJS.ProcessEnv;
  /** `migrate` installs the outbox and ends; nothing forwards. */
  readonly args?: readonly string[];
}

const USAGE = "usage: npm run forward [-- migrate]";

/**
 * The whole life of the process, from its environment to its exit code. It waits for services that are away instead of giving up, and
 * `/readyz` says so; a Redis that may evict keys it refuses. Never rejects.
 */
export async function runForwarder({ env, args = [] }: RunForwarderOptions): Promise<void> {
  const [command, ...others] = args;
  if (others.length > 0 || (command !== undefined && command !== "migrate")) {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = EXIT.usage;
  } else if (command === "migrate") {
    await migrate(env);
  } else {
    await runProcess({
      name: "forwarder",
      read: () => ({ config: readConfig(env) }),
      start,
      isMisuse: (error) => error instanceof EvictingRedisError,
    });
  }
}

async function migrate(env: NodeJS.ProcessEnv): Promise<void> {
  try {
    const { databaseUrl } = readConfig(env, ["database"]);
    const applied = await migrateUpstream({ databaseUrl });
    process.stdout.write(applied.length === 0 ? "nothing to do\n" : `applied ${applied.join(", ")}\n`);
  } catch (error) {
    // A person reads this; what is wrong with a configuration takes several lines.
    process.stderr.write(`${error instanceof ConfigError ? error.message : errorLine(error)}\n`);
    process.exitCode = error instanceof OutboxConnectionError ? EXIT.unreachable : exitCodeOf(error);
  }
}

async function start({
  config,
  logger,
  shutdown,
}: ProcessTools & { readonly config: Config }): Promise<void> {
  const { databaseUrl, redisUrl, prefix, laneCap, laneTtlMs, pollMs, leaseMs } = config;
  let forwarder: Forwarder | null = null;
  const probe = openRedisProbe({ redis: redisUrl, logger });
  const ready = (): ReturnType<typeof readiness> => readiness(forwarder, probe);
  const processMetrics = createProcessMetrics({ process: "forwarder", ready });
  const metrics = new ForwardMetrics({ registry: processMetrics.registry, forwarder: () => forwarder });
  const http = await startHttpServer({
    host: config.httpHost,
    port: config.httpPort,
    live: () => true,
    ready,
    metrics: () => processMetrics.text(),
  });
  await refuseEvictionOf(probe);
  const tracing = await startTracing({ settings: config.traces, serviceName: "junban-forwarder", logger });
  const plain = createPublisher({
    redis: redisUrl,
    prefix,
    laneCap,
    laneTtlMs,
    waitReplicas: config.forwardReplicas,
  });
  const publisher = tracing === null ? plain : tracing.publisher(plain);
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
  if (tracing !== null) shutdown.add({ name: "traces", run: () => tracing.close() });
  shutdown.add({ name: "probe", run: () => probe.close() });
  shutdown.add({ name: "health server", run: () => http.close() });
  logger.info({ prefix, leaseMs, pollMs, httpPort: http.port }, "the forwarder runs");
}

/** Asked once: one that does not answer now is watched from here on. @throws {EvictingRedisError} */
async function refuseEvictionOf(probe: RedisProbe): Promise<void> {
  await probe.check().catch((error: unknown) => {
    if (error instanceof EvictingRedisError) throw error;
  });
}

/** A standby is ready: it can take over. Redis is asked in any case, since that is what it would need then. */
async function readiness(
  forwarder: Forwarder | null,
  probe: RedisProbe,
): Promise<{ ok: boolean; detail: object }> {
  const { role, trouble } = forwarder?.state() ?? { role: "connecting", trouble: null };
  const redis = await probe.fitness();
  const postgres = role === "active" || role === "standby" ? "answers" : "silent";
  const ok = redis === "answers" && postgres === "answers" && trouble === null;
  return { ok, detail: { redis, postgres, role, ...(trouble === null ? {} : { why: trouble }) } };
}
