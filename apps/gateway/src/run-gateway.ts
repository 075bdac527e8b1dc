import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createPublisher, EvictingRedisError, openRedisProbe } from "@junban/event-queues";
import type { RedisFitness, RedisProbe } from "@junban/event-queues";
import { ConfigError, createProcessMetrics, reachWithin, runProcess, startHttpServer } from "@junban/service";
import type { Config, ProcessTools } from "@junban/service";
import { startTracing } from "@junban/tracing";
import type { FastifyInstance } from "fastify";
import { GatewayMetrics } from "./gateway-metrics.ts";
import { Intake } from "./intake.ts";
import { OutageLog } from "./outage-log.ts";
import { RateLimit } from "./rate-limit.ts";
import { createGatewayServer } from "./server.ts";
import { readGatewaySettings } from "./settings.ts";
import type { GatewaySettings } from "./settings.ts";
import { StripeWebhook } from "./stripe/webhook.ts";
import { TokenBook } from "./token-book.ts";

/** What closing connections may take, out of the grace. */
const CLOSING_MS = 3_000;

/**
 * The whole life of a gateway process, from its environment to its exit code: configuration, health server, Redis reached,
 * requests taken; then, when asked to stop, everything in the opposite order. Never rejects.
 */
export async function runGateway({ env }: { readonly env: NodeJS.ProcessEnv }): Promise<void> {
  await runProcess({
    name: "gateway",
    read: async () => readGatewaySettings(env),
    start,
    isMisuse: (error) => error instanceof EvictingRedisError,
  });
}

async function start({ logger, shutdown, ...settings }: GatewaySettings & ProcessTools): Promise<void> {
  const { config, tokens, stripeSecrets } = settings;
  const { signal } = shutdown;
  const probe = openRedisProbe({ redis: config.redisUrl, logger });
  let isServing = false;
  const ready = (): Ready => readiness(probe, { isServing, isEnding: signal.aborted });
  const metrics = createProcessMetrics({ process: "gateway", ready });
  const http = await startHttpServer({
    host: config.httpHost,
    port: config.httpPort,
    // An answer at all is the answer: the event loop turns.
    live: () => true,
    ready,
    metrics: () => metrics.text(),
  });
  const tracing = await startTracing({ settings: config.traces, serviceName: "junban-gateway", logger });
  const plain = createPublisher({
    redis: config.redisUrl,
    prefix: config.prefix,
    laneCap: config.laneCap,
    laneTtlMs: config.laneTtlMs,
  });
  const publisher = tracing === null ? plain : tracing.publisher(plain);
  try {
    const say = (line: string): void => logger.warn({}, line);
    await reachWithin({
      service: "Redis",
      address: config.redisUrl,
      probe: () => probe.check(),
      // What is acknowledged must not be dropped by Redis afterwards.
      isFinal: (error) => error instanceof EvictingRedisError,
      say,
      signal,
    });
    signal.throwIfAborted();
    const gatewayMetrics = new GatewayMetrics({ registry: metrics.registry });
    const outageLog = new OutageLog({ logger });
    const intake = new Intake({
      publisher,
      heard: (results, seconds) => {
        gatewayMetrics.published(results, seconds);
        outageLog.published(results);
      },
    });
    const app = createGatewayServer({
      tokens: new TokenBook(tokens),
      rateLimit: new RateLimit({ perMinute: config.gatewayEventsPerMinute }),
      intake,
      stripe: stripeWebhook(settings, { intake, metrics: gatewayMetrics }),
      metrics: gatewayMetrics,
      logger,
      openapi: await readFile(new URL("../openapi.json", import.meta.url), "utf8"),
      bodyBytes: config.gatewayBodyBytes,
      mostEvents: config.gatewayBatch,
      requestMs: config.gatewayRequestMs,
      isEnding: () => signal.aborted,
    });
    const port = await listen(app, config);
    isServing = true;
    const closeMs = Math.max(config.shutdownGraceMs - CLOSING_MS, config.shutdownGraceMs / 2);
    shutdown.add({ name: "requests", run: async () => closeWithin(app, closeMs) });
    const stripe = stripeSecrets.length > 0;
    logger.info({ port, httpPort: http.port, senders: tokens.length, stripe }, "the gateway serves");
  } finally {
    shutdown.add({ name: "publisher", run: async () => publisher.close() });
    if (tracing !== null) shutdown.add({ name: "traces", run: async () => tracing.close() });
    shutdown.add({ name: "probe", run: () => probe.close() });
    shutdown.add({ name: "health server", run: async () => http.close() });
  }
}

type Ready = ReturnType<typeof readiness>;

/** Whether Redis is there for an event that comes now. One at its memory limit is, and the event is answered 503. */
async function readiness(
  probe: RedisProbe,
  { isServing, isEnding }: { isServing: boolean; isEnding: boolean },
): Promise<{ ok: boolean; detail: { redis: RedisFitness; requests: string } }> {
  const redis = await probe.fitness();
  const whileUp = isServing ? "taken" : "starting";
  const requests = isEnding ? "ending" : whileUp;
  return { ok: redis === "answers" && requests === "taken", detail: { redis, requests } };
}

function stripeWebhook(
  { config, stripeSecrets }: GatewaySettings,
  { intake, metrics }: { intake: Intake; metrics: GatewayMetrics },
): StripeWebhook | null {
  if (stripeSecrets.length === 0) return null;
  const count = metrics.webhook.bind(metrics);
  return new StripeWebhook({ secrets: stripeSecrets, toleranceMs: config.stripeToleranceMs, intake, count });
}

async function listen(app: FastifyInstance, { gatewayHost, gatewayPort }: Config<"redis">): Promise<number> {
  try {
    await app.listen({ host: gatewayHost, port: gatewayPort });
  } catch {
    const allowed = `a port on which this process may listen at ${gatewayHost}`;
    throw new ConfigError({
      problems: [{ variable: "JUNBAN_GATEWAY_HTTP_PORT", value: String(gatewayPort), allowed }],
    });
  }
  return (app.server.address() as AddressInfo).port;
}

/** Stops listening and lets requests that arrived finish; those that are still arriving after the limit are cut off. */
async function closeWithin(app: FastifyInstance, limitMs: number): Promise<void> {
  const given = new AbortController();
  const late = sleep(limitMs, undefined, { signal: given.signal }).then(
    () => app.server.closeAllConnections(),
    () => undefined,
  );
  await app.close();
  given.abort();
  await late;
}
