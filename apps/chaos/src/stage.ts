import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createQueueReader, type QueueReader } from "@junban/event-queues";
import { createLanes, type Lanes } from "@junban/handoff-lock";
import { createOrderStore, migrate, type OrderStore } from "@junban/order-store";
import {
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startProcess,
  startProxy,
  startRedis,
  type TcpProxy,
} from "@junban/sandbox";
import { Crew, type CrewMember, unlessAborted } from "@junban/trial";
import { Redis } from "ioredis";
import { openGatewayIn, openNewsOut, type GatewayIn, type NewsOut } from "./edges/edges.ts";
import { openUpstreamIn, type UpstreamIn } from "./edges/upstream-in.ts";
import { type Edge, LEASE_SETTINGS } from "./faults/fault.ts";
import { Flow } from "./flow/flow.ts";
import { PublisherProcess } from "./flow/publisher-process.ts";

/** The two servers, which outlive many runs. */
export interface Servers {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
}

/** Undone at the end, the last one first. */
export type Closings = (() => Promise<unknown>)[];

export interface StageOptions {
  readonly servers: Servers;
  readonly eventsPerSecond: number;
  readonly seed: number;
  /** What stands around the fleet. */
  readonly edges: readonly Edge[];
  /** Whether one worker is left alone by all faults. */
  readonly spareOne: boolean;
  readonly signal: AbortSignal;
  readonly closings: Closings;
}

/** Everything one run happens on. Workers and publishers reach the servers through proxies, the runner directly. */
export interface Stage {
  readonly databaseUrl: string;
  readonly prefix: string;
  readonly postgresServer: PostgresServer;
  readonly redisServer: RedisServer;
  readonly workersPostgres: TcpProxy;
  readonly workersRedis: TcpProxy;
  readonly publishersRedis: TcpProxy;
  readonly crew: Crew;
  /** How many workers there are in calm weather. */
  readonly workers: number;
  readonly publishers: readonly PublisherProcess[];
  readonly flow: Flow;
  /** Null where the run has none. */
  readonly newsOut: NewsOut | null;
  readonly gatewayIn: GatewayIn | null;
  readonly upstreamIn: UpstreamIn | null;
  readonly store: OrderStore;
  readonly lanes: Lanes;
  readonly queues: QueueReader;
  readonly redis: Redis;
  /** What went wrong besides what the verdict finds. */
  readonly troubles: readonly string[];
  /** A worker that no fault picks, so that somebody lives through it all. */
  readonly spared: CrewMember | null;
  wrong(sentence: string): void;
  /** Starts as many workers as are missing. */
  fillCrew(): Promise<void>;
  /** Runs a `junban` command against the servers. */
  command(args: readonly string[]): Promise<{ code: number | null; output: string }>;
}

const WORKERS = 3;
const PUBLISHERS = 3;

const WORKER = fileURLToPath(new URL("../../worker/dist/main.js", import.meta.url));
const JUNBAN = fileURLToPath(new URL("../../cli/bin/junban.js", import.meta.url));

/** The runner has to see at once that Redis is back. */
const RECONNECT_MS = 20;

export async function startServers(closings: Closings): Promise<Servers> {
  // No fault takes the power away, so nothing has to be forced to the disk, which others may be busy with.
  const starting = [startPostgres({ fast: true }), startRedis({ appendOnly: true })] as const;
  for (const server of starting) {
    // Also when the other one fails: whatever was started has to be stopped.
    void server.then(
      (running) => closings.push(async () => running.stop()),
      () => undefined,
    );
  }
  await Promise.allSettled(starting);
  const [postgres, redis] = await Promise.all(starting);
  return { postgres, redis };
}

export async function setStage(options: StageOptions): Promise<Stage> {
  const { servers, seed, eventsPerSecond, edges, signal, closings } = options;
  const prefix = `chaos-${randomBytes(4).toString("hex")}`;
  const databaseUrl = await servers.postgres.createDatabase();
  await migrate({ databaseUrl });
  const [workersPostgres, workersRedis, publishersRedis] = await openProxies(
    servers.redis,
    databaseUrl,
    closings,
  );
  const troubles: string[] = [];
  const crew = new Crew({
    program: WORKER,
    environmentOf: () => ({
      DATABASE_URL: workersPostgres.url,
      REDIS_URL: workersRedis.url,
      JUNBAN_PREFIX: prefix,
      ...LEASE_SETTINGS,
    }),
    onTrouble: (error) => troubles.push(error.message),
  });
  closings.push(async () => crew.stop());
  const publishers = Array.from(
    { length: PUBLISHERS },
    () => new PublisherProcess({ REDIS_URL: publishersRedis.url, JUNBAN_PREFIX: prefix }),
  );
  closings.push(async () => Promise.all(publishers.map(async (publisher) => publisher.close())));
  const around = { databaseUrl, redisUrl: servers.redis.url, prefix, closings };
  const newsOut = edges.includes("news out") ? await openNewsOut(around) : null;
  const gatewayIn = edges.includes("gateway in") ? await openGatewayIn(around, PUBLISHERS) : null;
  const upstreamIn = edges.includes("upstream in")
    ? await openUpstreamIn(
        { ...around, databaseUrl: await servers.postgres.createDatabase() },
        { producers: PUBLISHERS, seed },
      )
    : null;
  const doors = gatewayIn?.doors ?? upstreamIn?.doors ?? publishers;
  const flow = new Flow({ publishers: doors, seed, eventsPerSecond });
  const stage: Stage = {
    databaseUrl,
    prefix,
    postgresServer: servers.postgres,
    redisServer: servers.redis,
    workersPostgres,
    workersRedis,
    publishersRedis,
    crew,
    workers: WORKERS,
    publishers,
    flow,
    newsOut,
    gatewayIn,
    upstreamIn,
    ...openWatch({ servers, databaseUrl, prefix }, closings),
    troubles,
    get spared() {
      return options.spareOne ? (crew.members[0] ?? null) : null;
    },
    wrong: (sentence) => troubles.push(sentence),
    fillCrew: async () => {
      const missing = Math.max(0, WORKERS - crew.atWork);
      await Promise.all(Array.from({ length: missing }, async () => crew.start()));
    },
    command: async (args) => runCommand(args, { servers, databaseUrl, prefix }),
  };
  // Before the publishers go, which it would wait for.
  closings.push(async () => flow.abandon());
  await unlessAborted(stage.fillCrew(), signal);
  return stage;
}

async function openProxies(
  redis: RedisServer,
  databaseUrl: string,
  closings: Closings,
): Promise<readonly [TcpProxy, TcpProxy, TcpProxy]> {
  const proxies = await Promise.all([
    startProxy({ url: databaseUrl }),
    startProxy({ url: redis.url }),
    startProxy({ url: redis.url }),
  ]);
  closings.push(async () => Promise.all(proxies.map(async (proxy) => proxy.close())));
  return proxies;
}

interface Place {
  readonly servers: Servers;
  readonly databaseUrl: string;
  readonly prefix: string;
}

/** The runner's own view of the servers, past the proxies. */
function openWatch(
  { servers, databaseUrl, prefix }: Place,
  closings: Closings,
): Pick<Stage, "store" | "lanes" | "queues" | "redis"> {
  const redis = new Redis(servers.redis.url, {
    maxRetriesPerRequest: 1,
    retryStrategy: () => RECONNECT_MS,
  });
  // Each call answers for itself.
  redis.on("error", () => undefined);
  const lanes = createLanes({ redis, subscriber: redis.duplicate({ lazyConnect: true }), prefix });
  const queues = createQueueReader({ redis: servers.redis.url, prefix });
  const store = createOrderStore({ databaseUrl, poolSize: 4, worker: "chaos" });
  closings.push(async () => {
    try {
      await Promise.all([lanes.close(), queues.close(), store.close()]);
    } finally {
      redis.disconnect();
    }
  });
  return { redis, lanes, queues, store };
}

async function runCommand(
  args: readonly string[],
  { servers, databaseUrl, prefix }: Place,
): Promise<{ code: number | null; output: string }> {
  const tree = await startProcess({
    command: process.execPath,
    args: [JUNBAN, ...args],
    env: {
      PATH: process.env["PATH"],
      DATABASE_URL: databaseUrl,
      REDIS_URL: servers.redis.url,
      JUNBAN_PREFIX: prefix,
      ...LEASE_SETTINGS,
    },
  });
  const { code } = await tree.exited;
  return { code, output: `${tree.stdout()}\n${tree.stderr()}`.trim() };
}
