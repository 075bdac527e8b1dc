import { fileURLToPath } from "node:url";
import { createPublisher, type Publisher } from "@junban/event-queues";
import { migrate } from "@junban/order-store";
import { Crew, unlessAborted, type WorkerEndedError } from "@junban/trial";
import { servicesFor, type Services } from "../services.ts";
import { LEASE_MS, LEASE_SETTINGS } from "./lease.ts";
import { startServers, type Servers } from "./servers.ts";

export interface StageOptions {
  readonly workers: number;
  readonly publishers: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** Told when a worker ends although nobody asked it to. */
  readonly onTrouble: (error: WorkerEndedError) => void;
}

/** Everything the demo runs on. */
export interface Stage {
  readonly servers: Servers;
  readonly services: Services;
  readonly crew: Crew;
  readonly publishers: readonly Publisher[];
  /** One more, for the hot order alone. */
  readonly hotPublisher: Publisher;
}

type Closing = () => Promise<unknown>;

/** Sets the stage, lets `play` run on it, and takes everything down again, whatever happened. */
export async function onStage<Result>(
  options: StageOptions,
  play: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const closings: Closing[] = [];
  try {
    return await play(await setStage(options, closings));
  } finally {
    await takeDown(closings);
  }
}

async function setStage(options: StageOptions, closings: Closing[]): Promise<Stage> {
  const { workers, signal, say, onTrouble } = options;
  const servers = await startServers({ env: process.env, say, closings });
  signal.throwIfAborted();
  const { databaseUrl, redisUrl, prefix } = servers;
  await migrate({ databaseUrl });
  signal.throwIfAborted();
  const services = servicesFor({ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, JUNBAN_PREFIX: prefix }, [
    "database",
    "redis",
  ]);
  closings.push(async () => services.close());
  const crew = new Crew({
    program: workerProgram(),
    environmentOf: () => ({
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      JUNBAN_PREFIX: prefix,
      ...LEASE_SETTINGS,
    }),
    onTrouble,
  });
  closings.push(async () => crew.stop());
  const starting = Promise.all(Array.from({ length: workers }, async () => crew.start()));
  const started = await unlessAborted(starting, signal);
  const pids = started.map(({ number, pid }) => `worker ${number} (pid ${pid})`).join(", ");
  say(`${pids}: ready, with a lease of ${LEASE_MS / 1_000} s instead of 10, so that healing is soon seen`);
  const openPublisher = (): Publisher => {
    const publisher = createPublisher({ redis: redisUrl, prefix });
    closings.push(async () => publisher.close());
    return publisher;
  };
  const publishers = Array.from({ length: options.publishers }, openPublisher);
  return { servers, services, crew, publishers, hotPublisher: openPublisher() };
}

/** The last thing opened goes first. One that cannot be closed does not keep the others open. */
async function takeDown(closings: readonly Closing[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closings.toReversed()) await close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** The program of `npm run worker`, compiled exactly if the demo is. */
function workerProgram(): string {
  const program = import.meta.url.endsWith(".ts") ? "src/main.ts" : "dist/main.js";
  return fileURLToPath(new URL(`../../../worker/${program}`, import.meta.url));
}
