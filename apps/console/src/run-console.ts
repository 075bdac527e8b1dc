import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { examine, readGlance } from "@junban/operations";
import { migrationStatus, refuseOldSchema, SchemaBehindError } from "@junban/order-store";
import { ConfigError, createProcessMetrics, errorLine, runProcess, startHttpServer } from "@junban/service";
import type { Config, ProcessTools } from "@junban/service";
import type { FastifyInstance } from "fastify";
import { Actions } from "./actions.ts";
import { readAssets } from "./assets.ts";
import { Attempts } from "./attempts.ts";
import { Doorkeeper } from "./doorkeeper.ts";
import { LiveGlance } from "./live-glance.ts";
import { LoginDesk } from "./login-desk.ts";
import { OwnOrigin } from "./own-origin.ts";
import { glanceParts } from "./pages/glance.ts";
import { createConsoleServer } from "./server.ts";
import { openServices } from "./services.ts";
import type { Services } from "./services.ts";
import { Sessions } from "./sessions.ts";
import { readConsoleSettings } from "./settings.ts";
import type { ConsoleSettings } from "./settings.ts";

/** What closing connections may take, out of the grace. */
const CLOSING_MS = 3_000;
const SWEEP_SESSIONS_MS = 1_000;

/**
 * The whole life of a console process, from its environment to its exit code. It serves whether or not Redis and Postgres are
 * there: it is wanted most when one of them is not. Never rejects.
 */
export async function runConsole({ env }: { readonly env: NodeJS.ProcessEnv }): Promise<void> {
  await runProcess({ name: "console", read: async () => readConsoleSettings(env), start });
}

async function start({ logger, shutdown, ...settings }: ConsoleSettings & ProcessTools): Promise<void> {
  const { config, users, proxy } = settings;
  const metrics = createProcessMetrics();
  const services = openServices(config);
  let isServing = false;
  const http = await startHttpServer({
    host: config.httpHost,
    port: config.httpPort,
    live: () => true,
    ready: async () => readiness(services, isServing && !shutdown.signal.aborted),
    metrics: () => metrics.text(),
  });
  try {
    await warnOfSchema(config, logger);
    const { app, sessions } = await build(settings, { logger, shutdown, services });
    const sweeping = setInterval(() => sessions.sweep(), SWEEP_SESSIONS_MS);
    const port = await listen(app, config);
    isServing = true;
    const closeMs = Math.max(config.shutdownGraceMs - CLOSING_MS, config.shutdownGraceMs / 2);
    shutdown.add({
      name: "requests",
      run: async () => {
        clearInterval(sweeping);
        await closeWithin(app, closeMs);
      },
    });
    logger.info(
      { port, httpPort: http.port, users: users.length, proxy: proxy !== null },
      "the console serves",
    );
  } finally {
    shutdown.add({ name: "connections", run: async () => services.close() });
    shutdown.add({ name: "health server", run: async () => http.close() });
  }
}

async function build(
  { config, users, proxy }: ConsoleSettings,
  { logger, shutdown, services }: ProcessTools & { readonly services: Services },
): Promise<{ app: FastifyInstance; sessions: Sessions }> {
  const { fleet, rawQueues } = services;
  const sessions = new Sessions({ idleMs: config.consoleIdleMs, longestMs: config.consoleSessionMs });
  const origin = new OwnOrigin(config.consoleOrigin);
  const app = await createConsoleServer({
    fleet,
    rawQueues,
    origin,
    logger,
    doorkeeper: new Doorkeeper({ sessions, proxy, origin }),
    loginDesk: new LoginDesk({
      users,
      byName: new Attempts({ most: 10, everyMs: 30_000 }),
      byAddress: new Attempts({ most: 50, everyMs: 5_000 }),
    }),
    actions: new Actions({ store: fleet.store, logger }),
    live: new LiveGlance({
      read: async (from) => readGlance(fleet, from),
      refreshMs: config.consoleRefreshMs,
      message: (look) => JSON.stringify(glanceParts(look)),
      signal: shutdown.signal,
    }),
    examine: async () => {
      const { databaseUrl, leaseMs, pgPool: poolSize, crashAlone } = config;
      return examine({
        fleet,
        settings: { leaseMs, poolSize, crashAlone },
        pendingMigrations: async () => (await migrationStatus({ databaseUrl })).pending,
        explain: errorLine,
      });
    },
    assets: await readAssets(),
    isEnding: () => shutdown.signal.aborted,
  });
  return { app, sessions };
}

/** Whether this process takes requests; the services beside it are told and change nothing, since pages are served without them. */
async function readiness(
  { fleet }: Services,
  isServing: boolean,
): Promise<{ ok: boolean; detail: { requests: string; redis: string; postgres: string } }> {
  const [redis, postgres] = await Promise.all(
    [fleet.queues.paused(), fleet.store.ping()].map(async (question) =>
      question.then(
        () => "answers",
        () => "silent",
      ),
    ),
  );
  const detail = {
    requests: isServing ? "taken" : "not taken",
    redis: redis ?? "silent",
    postgres: postgres ?? "silent",
  };
  return { ok: isServing, detail };
}

/** A database that nobody migrated is a mistake of the set-up; one that does not answer is an outage, and pages say so. */
async function warnOfSchema(
  { databaseUrl }: Config,
  logger: Pick<ProcessTools["logger"], "warn">,
): Promise<void> {
  try {
    await refuseOldSchema({ databaseUrl });
  } catch (error) {
    if (error instanceof SchemaBehindError) throw error;
    logger.warn({ error }, "Postgres does not answer; its pages will say so");
  }
}

async function listen(app: FastifyInstance, { consoleHost, consolePort }: Config): Promise<number> {
  try {
    await app.listen({ host: consoleHost, port: consolePort });
  } catch {
    const allowed = `a port on which this process may listen at ${consoleHost}`;
    throw new ConfigError({
      problems: [{ variable: "JUNBAN_CONSOLE_HTTP_PORT", value: String(consolePort), allowed }],
    });
  }
  return (app.server.address() as AddressInfo).port;
}

/** Stops listening and lets what is under way finish; what is still open after the limit is cut off. */
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
