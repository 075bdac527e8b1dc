/**
 * Loaded into a worker of Junban before its own program, so that one event of its traffic goes wrong at an exact point: in the
 * middle of the transaction that decides it. The program itself is the one that runs in production.
 *
 * BENCH_HANG_ON   the id of an event: whoever decides its batch says "holding ID" and stands still, once in the whole fleet
 * BENCH_FAIL_ONCE the id of an event: says "failing ID", and the connections to Postgres break, until the worker has given the
 *                 lane up. The store alone would get over one broken connection, and nothing would be seen of the queue's retry.
 * BENCH_KEY       the key of that event's request, by which a batch names it
 * BENCH_MARK      a path that does not exist: made by the first process that hangs, so that no other one does
 * DATABASE_URL    which connections are those to Postgres
 */
import { subscribe } from "node:diagnostics_channel";
import { closeSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";

const STANDARD_OUTPUT = 1;
const POSTGRES_PORT = 5432;

/** Calls `act` at each decision about the order of that request, from the moment its batch is read, with how often it was. */
function onDeciding(key: string, act: (reading: number) => void): void {
  let readings = 0;
  let order: string | null = null;
  subscribe("junban.batch.read", (message) => {
    const { lcid, keys } = message as { readonly lcid: string; readonly keys: readonly string[] };
    if (!keys.includes(key)) return;
    readings += 1;
    order = lcid;
  });
  subscribe("junban.event.deciding", (message) => {
    if ((message as { readonly lcid: string }).lcid === order) act(readings);
  });
}

function hangOn(id: string, { key, mark }: { key: string; mark: string }): void {
  onDeciding(key, () => {
    if (!isFirst(mark)) return;
    say(`holding ${id}`);
    process.kill(process.pid, "SIGSTOP");
  });
}

function failOnce(id: string, { key, port }: { key: string; port: number }): void {
  const sockets = rememberSockets();
  let wasSaid = false;
  onDeciding(key, (reading) => {
    // Read anew, so the turn that met the trouble has ended.
    if (reading > 1) return;
    if (!wasSaid) say(`failing ${id}`);
    wasSaid = true;
    for (const socket of sockets) if (socket.remotePort === port) socket.destroy();
  });
}

/** The sockets of this process as they come and go. No channel tells of a socket that is made first and connected later. */
function rememberSockets(): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  const connect = Reflect.get(Socket.prototype, "connect") as (...options: unknown[]) => Socket;
  Socket.prototype.connect = function remembered(this: Socket, ...options: unknown[]): Socket {
    sockets.add(this);
    this.once("close", () => sockets.delete(this));
    return Reflect.apply(connect, this, options);
  };
  return sockets;
}

/** Whether no process of the fleet was here before. */
function isFirst(mark: string): boolean {
  try {
    closeSync(openSync(mark, "wx"));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Written at once: a stream would still hold the line when the process stands still. */
function say(line: string): void {
  writeSync(STANDARD_OUTPUT, `${line}\n`);
}

function prepare(env: NodeJS.ProcessEnv): void {
  const {
    BENCH_HANG_ON,
    BENCH_FAIL_ONCE,
    BENCH_KEY: key = "",
    BENCH_MARK: mark = "",
    DATABASE_URL = "",
  } = env;
  if (BENCH_HANG_ON !== undefined) hangOn(BENCH_HANG_ON, { key, mark });
  if (BENCH_FAIL_ONCE !== undefined) {
    failOnce(BENCH_FAIL_ONCE, { key, port: Number(new URL(DATABASE_URL).port || POSTGRES_PORT) });
  }
}

prepare(process.env);
