import { hostname } from "node:os";
import { refuseOldSchema, SchemaBehindError } from "@junban/order-store";
import { openRelay, type OpenRelay } from "@junban/relay";
import { createProcessMetrics, reachWithin, readConfig, runProcess, startHttpServer } from "@junban/service";
import type { Config, ProcessTools } from "@junban/service";

/**
 * The whole life of a relay that runs by itself, beside workers with `JUNBAN_RELAY=off` or as one more that may lead. Never rejects.
 */
export async function runRelay({ env }: { readonly env: NodeJS.ProcessEnv }): Promise<void> {
  await runProcess({ name: "relay", read: () => ({ config: readConfig(env) }), start });
}

interface Start extends ProcessTools {
  readonly config: Config;
}

async function start({ config, logger, shutdown }: Start): Promise<void> {
  const metrics = createProcessMetrics();
  let relay: OpenRelay | null = null;
  const http = await startHttpServer({
    host: config.httpHost,
    port: config.httpPort,
    live: () => true,
    ready: async () => {
      if (relay === null) return { ok: false, detail: { relay: "starting" } };
      const { leads, obstacle } = relay;
      return { ok: obstacle === null, detail: { leads, obstacle } };
    },
    metrics: () => metrics.text(),
  });
  try {
    await checkPostgres({ config, logger, shutdown });
    shutdown.signal.throwIfAborted();
    const worker = `${hostname()}:${process.pid}`;
    const opened = openRelay({ config, worker, logger, registry: metrics.registry });
    relay = opened;
    shutdown.add({ name: "relay", run: () => opened.close() });
  } finally {
    shutdown.add({ name: "health server", run: () => http.close() });
  }
  const { prefix, updatesCap } = config;
  logger.info({ prefix, updatesCap, httpPort: http.port }, "the relay runs");
}

/** Also waits for one that goes again between two questions, as it may while it starts. */
async function checkPostgres({ config, logger, shutdown }: Start): Promise<void> {
  const { databaseUrl } = config;
  await reachWithin({
    service: "Postgres",
    address: databaseUrl,
    probe: () => refuseOldSchema({ databaseUrl }),
    isFinal: (error) => error instanceof SchemaBehindError,
    say: (line) => logger.warn({}, line),
    signal: shutdown.signal,
  });
}
