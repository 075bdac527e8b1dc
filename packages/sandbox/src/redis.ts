import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { ServerStartError } from "./errors.ts";
import { createServerFolder, removeFolder } from "./folders.ts";
import { type Keeper, startKeeper } from "./keeper.ts";
import { canListen, freePort } from "./ports.ts";
import { type RedisBinary, findRedisBinary } from "./redis-binary.ts";
import { serverOperations } from "./server-operations.ts";
import { ServerProcess } from "./server-process.ts";
import { happensWithin } from "./waiting.ts";

export interface RedisOptions {
  /** Append-only file with `appendfsync everysec`, as in production. Without it a restart forgets everything. Default true. */
  appendOnly?: boolean;
  /** Such as "64mb". The policy is always noeviction. Default: no limit. */
  maxMemory?: string;
  /** Default: a random one. */
  password?: string;
  /** Default: a free one. */
  port?: number;
  /** Further lines of redis.conf, by name. */
  settings?: Readonly<Record<string, string | number>>;
  /** How long the server may take to answer, loading its file included. Default 60000. */
  startWithinMs?: number;
}

export interface RedisServer {
  /** Address with the password. */
  readonly url: string;
  readonly port: number;
  readonly password: string;
  /** Changes with a restart; throws NotRunningError between kill and restart. */
  readonly pid: number;
  readonly folder: string;
  /** Ends the server cleanly and starts it again on its port, after `awayMs` (default 0). */
  restart(options?: { awayMs?: number }): Promise<void>;
  /** SIGKILL by default; `restart` brings it back with what reached its file. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** SIGSTOP and SIGCONT: connections stay, nothing answers. */
  freeze(): void;
  resume(): void;
  logTail(): Promise<string>;
  /** Ends it for good and removes its folder. May be called twice. */
  stop(): Promise<void>;
}

/** Starts a throwaway Redis (or Valkey) on 127.0.0.1. It also ends when this process ends, however that happens. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const binary = await findRedisBinary();
  const folder = await createServerFolder("redis");
  const keeper = await startKeeper({ signal: "SIGKILL", graceMs: 2_000, folder });
  try {
    return await startIn({ folder, keeper, binary }, options);
  } catch (error) {
    await removeFolder(folder);
    keeper.release();
    throw error;
  }
}

interface Place {
  folder: string;
  keeper: Keeper;
  binary: RedisBinary;
}

async function startIn(place: Place, options: RedisOptions): Promise<RedisServer> {
  const { folder, keeper, binary } = place;
  const { startWithinMs = 60_000, password = randomBytes(12).toString("hex") } = options;
  const port = options.port ?? (await freePort());
  const configPath = join(folder, "redis.conf");
  await writeSettings({ configPath, folder, port, password, options });
  const server = new ServerProcess(
    { name: "Redis", ...binary, args: [configPath], folder, logPath: join(folder, "log") },
    keeper,
  );
  const start = async (): Promise<void> => startAndWait({ server, port, password, startWithinMs });
  await start();
  const stopForGood = async (): Promise<void> => {
    await server.kill();
    await removeFolder(folder);
    keeper.release();
  };
  return {
    ...serverOperations({
      server,
      endSignal: "SIGTERM",
      start,
      stopForGood,
    }),
    url: `redis://:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    port,
    password,
    folder,
    get pid() {
      return server.pid;
    },
  };
}

async function writeSettings(place: {
  configPath: string;
  folder: string;
  port: number;
  password: string;
  options: RedisOptions;
}): Promise<void> {
  const { options } = place;
  const settings: Record<string, string | number> = {
    bind: "127.0.0.1",
    port: place.port,
    requirepass: quoted(place.password),
    dir: quoted(place.folder),
    daemonize: "no",
    save: '""',
    appendonly: options.appendOnly === false ? "no" : "yes",
    appendfsync: "everysec",
    "maxmemory-policy": "noeviction",
    maxmemory: options.maxMemory ?? 0,
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  // In a file rather than on the command line, where every user of the machine could read the password.
  await writeFile(place.configPath, `${lines.join("\n")}\n`, { mode: 0o600 });
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

async function startAndWait(options: {
  server: ServerProcess;
  port: number;
  password: string;
  startWithinMs: number;
}): Promise<void> {
  const { server, port, password, startWithinMs } = options;
  await happensWithin(async () => canListen(port), 5_000);
  await server.start();
  const answered = await happensWithin(
    async () => !server.isRunning || (await answersPing({ port, password })),
    startWithinMs,
  );
  if (answered && server.isRunning) return;
  const why = answered ? "it ended at once" : `it did not answer within ${startWithinMs} ms`;
  const logTail = await server.logTail();
  await server.kill();
  throw new ServerStartError({ server: "Redis", why, logTail });
}

/** A server that still loads its file answers an error instead. */
async function answersPing(server: { port: number; password: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port: server.port, host: "127.0.0.1" });
    let text = "";
    const finish = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => finish(false));
    socket.on("error", () => finish(false));
    socket.on("close", () => finish(false));
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (text.includes("PONG")) finish(true);
      else if (/^-(LOADING|ERR|NOAUTH)/m.test(text)) finish(false);
    });
    const size = Buffer.byteLength(server.password);
    socket.write(`*2\r\n$4\r\nAUTH\r\n$${size}\r\n${server.password}\r\n*1\r\n$4\r\nPING\r\n`);
  });
}
