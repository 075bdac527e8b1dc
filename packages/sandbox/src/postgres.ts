import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { type Account, unprivilegedAccount } from "./accounts.ts";
import { ServerStartError } from "./errors.ts";
import { createServerFolder, removeFolder } from "./folders.ts";
import { type Keeper, startKeeper } from "./keeper.ts";
import { canListen, freePort } from "./ports.ts";
import { postgresBinaries } from "./postgres-binaries.ts";
import { END_WITHIN_MS, serverOperations } from "./server-operations.ts";
import { ServerProcess } from "./server-process.ts";
import { askStatement, runStatement } from "./statements.ts";
import { happensWithin } from "./waiting.ts";

export interface PostgresOptions {
  /** Without fsync and full page writes: survives every end of its processes, not one of the machine. Default false. */
  fast?: boolean;
  /** Further lines of postgresql.conf, by name. */
  settings?: Readonly<Record<string, string | number>>;
  /** Default: a free one. */
  port?: number;
  /** A folder with Postgres' `bin`, `lib` and `share`. Default: the one in the npm package for this platform. */
  nativeFolder?: string;
  /** How long the server may take to answer. Default 60000. */
  startWithinMs?: number;
}

export interface PostgresServer {
  /** Address of the maintenance database, with the password. */
  readonly url: string;
  readonly port: number;
  /** The leading process. Changes with a restart; throws NotRunningError between kill and restart. */
  readonly pid: number;
  readonly folder: string;
  /** Creates a database, empty or as a copy of the named one, and answers its address. */
  createDatabase(template?: string): Promise<string>;
  /** Ends the server cleanly (committed work is flushed) and starts it again on its port, after `awayMs` (default 0). */
  restart(options?: { awayMs?: number }): Promise<void>;
  /**
   * Ends the sessions of the database at this address (`pg_terminate_backend`), all or only those in a transaction, and
   * answers how many.
   */
  terminateSessions(options: { database: string; inTransaction?: boolean }): Promise<number>;
  /** SIGKILL to all of its processes; `restart` then brings it back, with crash recovery. Other signals go to the leader. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** SIGSTOP and SIGCONT for all of its processes: connections stay, nothing answers. */
  freeze(): void;
  resume(): void;
  /** The end of the server's log. */
  logTail(): Promise<string>;
  /** Ends it for good and removes its folder. May be called twice. */
  stop(): Promise<void>;
}

const USER = "junban";
const run = promisify(execFile);

/** Starts a throwaway Postgres 18 on 127.0.0.1. It also ends when this process ends, however that happens. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const account = unprivilegedAccount();
  const folder = await createServerFolder("postgres", account);
  const keeper = await startKeeper({ signal: "SIGQUIT", graceMs: 8_000, folder });
  try {
    return await startIn({ folder, account, keeper }, options);
  } catch (error) {
    await removeFolder(folder);
    keeper.release();
    throw error;
  }
}

interface Place {
  folder: string;
  account: Account | undefined;
  keeper: Keeper;
}

async function startIn(place: Place, options: PostgresOptions): Promise<PostgresServer> {
  const { folder, account, keeper } = place;
  const { startWithinMs = 60_000 } = options;
  const { nativeFolder } = options;
  const binaries = await postgresBinaries({
    folder,
    account,
    ...(nativeFolder === undefined ? {} : { nativeFolder }),
  });
  const password = randomBytes(12).toString("hex");
  const data = join(folder, "data");
  await createCluster({ initdb: binaries.initdb, data, password, place });
  const port = options.port ?? (await freePort());
  await writeSettings({ data, port, options });

  const logPath = join(folder, "log");
  const server = new ServerProcess(
    { name: "Postgres", file: binaries.postgres, args: ["-D", data], folder, logPath, account },
    keeper,
  );
  const start = async (): Promise<void> => startAndWait({ server, data, port, startWithinMs });
  await start();
  const addressOf = (database: string): string =>
    `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;
  return {
    ...serverOperations({
      server,
      endSignal: "SIGINT",
      start,
      stopForGood: async () => stopForGood({ server, data, place }),
    }),
    url: addressOf("postgres"),
    port,
    folder,
    get pid() {
      return server.pid;
    },
    terminateSessions: async ({ database, inTransaction = false }) =>
      askStatement(
        addressOf("postgres"),
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = $1 and (not $2::boolean or xact_start is not null)`,
        [decodeURIComponent(new URL(database).pathname.slice(1)), inTransaction],
      ),
    createDatabase: async (template) => addressOf(await createDatabase(addressOf("postgres"), template)),
  };
}

async function createCluster(options: {
  initdb: string;
  data: string;
  password: string;
  place: Place;
}): Promise<void> {
  const { account, folder } = options.place;
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 });
  if (account !== undefined) await chown(passwordFile, account.uid, account.gid);
  try {
    await run(
      options.initdb,
      [
        `--pgdata=${options.data}`,
        `--username=${USER}`,
        `--pwfile=${passwordFile}`,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--no-locale",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--no-instructions",
        "--no-sync",
      ],
      {
        cwd: folder,
        env: { PATH: process.env["PATH"], LANG: "C", LC_ALL: "C", TZ: "UTC" },
        ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
      },
    );
  } catch (cause) {
    const logTail = cause instanceof Error && "stderr" in cause ? String(cause.stderr) : "";
    throw new ServerStartError({ server: "Postgres", why: "initdb failed", logTail }, { cause });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

async function writeSettings(place: { data: string; port: number; options: PostgresOptions }): Promise<void> {
  const path = join(place.data, "postgresql.conf");
  const fast = place.options.fast === true;
  const settings: Record<string, string | number> = {
    listen_addresses: "127.0.0.1",
    port: place.port,
    unix_socket_directories: "",
    max_connections: 200,
    wal_level: "replica",
    max_wal_senders: 0,
    log_timezone: "UTC",
    timezone: "UTC",
    ...(fast ? { fsync: "off", full_page_writes: "off" } : {}),
    ...place.options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) =>
    typeof value === "number" ? `${name} = ${value}` : `${name} = '${value.replaceAll("'", "''")}'`,
  );
  await writeFile(path, `${await readFile(path, "utf8")}\n# Junban's sandbox\n${lines.join("\n")}\n`);
  await chmod(path, 0o644);
}

async function startAndWait(options: {
  server: ServerProcess;
  data: string;
  port: number;
  startWithinMs: number;
}): Promise<void> {
  const { server, data, port, startWithinMs } = options;
  // Another program may hold the port for a moment (a port scan, a client's dying connection).
  await happensWithin(async () => canListen(port), 5_000);
  await server.start();
  const isReady = async (): Promise<boolean> => {
    if (!server.isRunning) return true;
    // The first line of this file is the server's process id (a killed predecessor leaves its own behind), the eighth its
    // own word about its state; pg_ctl trusts it too.
    const lines = (await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
    return server.isRunning && lines[0] === String(server.pid) && lines[7]?.trim() === "ready";
  };
  const answered = await happensWithin(isReady, startWithinMs);
  if (answered && server.isRunning) return;
  const why = answered ? "it ended at once" : `it was not ready after ${startWithinMs} ms`;
  const logTail = await server.logTail();
  await server.kill();
  throw new ServerStartError({ server: "Postgres", why, logTail });
}

async function createDatabase(adminUrl: string, template: string | undefined): Promise<string> {
  const name = `sandbox_${randomBytes(6).toString("hex")}`;
  // As files: a large one would otherwise go through the log as well, block by block.
  const from = template === undefined ? "" : ` TEMPLATE ${pg.escapeIdentifier(template)} STRATEGY file_copy`;
  await runStatement(adminUrl, `CREATE DATABASE ${pg.escapeIdentifier(name)}${from}`);
  return name;
}

async function stopForGood(options: { server: ServerProcess; data: string; place: Place }): Promise<void> {
  const { server, data, place } = options;
  // The folder goes anyway, so there is nothing to flush: the immediate mode ends everything without a checkpoint.
  await server.end({ signal: "SIGQUIT", withinMs: END_WITHIN_MS });
  await removeSharedMemory(data);
  await removeFolder(place.folder);
  place.keeper.release();
}

/** After SIGKILL a small System V segment stays in the kernel until a next start, which a stopped sandbox never has. */
async function removeSharedMemory(data: string): Promise<void> {
  const text = await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "");
  const segment = text.split("\n")[6]?.trim().split(/\s+/)[1];
  if (segment !== undefined) await run("ipcrm", ["-m", segment]).catch(() => undefined);
}
