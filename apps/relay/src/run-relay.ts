import { hostname } from "node:os";
import { EvictingRedisError, openRedisProbe } from "@junban/event-queues";
import type { RedisProbe } from "@junban/event-queues";
import { refuseOldSchema, SchemaBehindError } from "@junban/order-store";
import { openRelay, type OpenRelay } from "@junban/relay";
import { createProcessMetrics, reachWithin, readConfig, runProcess, startHttpServer } from "@junban/service";
import type { Config, ProcessTools } from "@junban/service";
import { startTracing } from "@junban/tracing";

/** What ending may take, out of the grace. Another leads as soon as this process is gone. */
const ENDS_MS = 2_000;

/**
 * The whole life of a relay that runs by itself, beside workers with `JUNBAN_RELAY=off` or as one more that may lead. Never rejects.
 */
export async function runRelay({ env }: { readonly env: NodeJS.ProcessEnv }): Promise<void> {
  await runProcess({
    name: "relay",
    read: () => ({ config: readConfig(env) }),
    start,
    isMisuse: (error) => error instanceof EvictingRedisError,
  });
}

interface Start extends ProcessTools {
  readonly config: Config;
}

async function start({ config, logger, shutdown }: Start): Promise<void> {
  const probe = openRedisProbe({ redis: config.redisUrl, logger });
  let relay: OpenRelay | null = null;
  const ready = (): ReturnType<typeof readiness> => readiness(relay, probe);
  const metrics = createProcessMetrics({ process: "relay", ready });
  const http = await startHttpServer({
    host: config.httpHost,
    port: config.httpPort,
    live: () => true,
    ready,
    metrics: () => metrics.text(),
  });
  const tracing = await startTracing({ settings: config.traces, serviceName: "junban-relay", logger });
  try {
    await checkServices({ config, logger, shutdown, probe });
    shutdown.signal.throwIfAborted();
    const worker = `${hostname()}:${process.pid}`;
    const { registry } = metrics;
    const opened = openRelay({ config, worker, logger, registry, tracing: tracing ?? undefined });
    relay = opened;
    const deadlineMs = Math.min(ENDS_MS, config.shutdownGraceMs / 2);
    shutdown.add({ name: "relay", run: () => opened.close({ deadlineMs }) });
  } finally {
    if (tracing !== null) shutdown.add({ name: "traces", run: () => tracing.close() });
    shutdown.add({ name: "probe", run: () => probe.close() });
    shutdown.add({ name: "health server", run: () => http.close() });
  }
  const { prefix, updatesCap } = config;
  logger.info({ prefix, updatesCap, httpPort: http.port }, "the relay runs");
}

/** Waits for both services, and refuses those on which the promises would not hold. */
async function checkServices({
  config,
  logger,
  shutdown,
  probe,
}: Start & { readonly probe: RedisProbe }): Promise<void> {
  const { databaseUrl, redisUrl } = config;
  const say = (line: string): void => logger.warn({}, line);
  const { signal } = shutdown;
  await reachWithin({
    service: "Redis",
    address: redisUrl,
    probe: () => probe.check(),
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

/**
 * Whether it could pass news on at this moment, leading or not: a standby has asked Postgres within the last seconds, when it tried to
 * lead, and of Redis nothing at all until it is asked here.
 */
async function readiness(
  relay: OpenRelay | null,
  probe: RedisProbe,
): Promise<{ ok: boolean; detail: object }> {
  const redis = await probe.fitness();
  if (relay === null) return { ok: false, detail: { relay: "starting", redis } };
  const { leads, obstacle } = relay;
  return { ok: obstacle === null && redis === "answers", detail: { leads, obstacle, redis } };
}
