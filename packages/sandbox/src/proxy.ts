import { type Server, type Socket, connect, createServer } from "node:net";
import { freePort } from "./ports.ts";
import {
  type ChunkHook,
  ProxyConnection,
  type ProxyDirection,
  type ProxyVerdict,
} from "./proxy-connection.ts";

export interface ProxyOptions {
  /** The server behind the proxy on 127.0.0.1; or its address, of which the proxy's own address is then a copy. */
  port?: number;
  url?: string;
  onData?: ChunkHook;
}

export interface TcpProxy {
  readonly port: number;
  /** The given address with the proxy's host and port; without one `tcp://127.0.0.1:port`. */
  readonly url: string;
  /** Connections open on the client's side. */
  connections(): number;
  /** Resets every connection and each new one until `heal`. */
  cut(): void;
  /** Resets the present connections once; new ones are welcome. */
  reset(): void;
  /** From now on bytes, and ends of streams, vanish in the given direction (default: both) until `heal`. Nobody is told. */
  drop(direction?: ProxyDirection): void;
  /** Each chunk arrives this much later. 0 ends it. */
  delayMs(delayMs: number): void;
  /** Everything passes again. Connections that lost bytes are reset: a stream with a hole would be misread. */
  heal(): void;
  /** Replaces the hook, or removes it. */
  onData(hook: ChunkHook | undefined): void;
  /** Resets what is open and stops listening. May be called twice. */
  close(): Promise<void>;
}

/** Starts a proxy on 127.0.0.1 in front of one server, which need not be up. */
export async function startProxy(options: ProxyOptions): Promise<TcpProxy> {
  const target = targetOf(options);
  const port = await freePort();
  const proxy = new Proxy(target, options.onData);
  await proxy.listen(port);
  return {
    port,
    url: addressOf(options.url, port),
    connections: () => proxy.connections(),
    cut: () => proxy.cut(),
    reset: () => proxy.reset(),
    drop: (direction) => proxy.drop(direction === undefined ? ["toServer", "toClient"] : [direction]),
    delayMs: (delayMs) => proxy.delay(delayMs),
    heal: () => proxy.heal(),
    onData: (hook) => proxy.setHook(hook),
    close: async () => proxy.close(),
  };
}

interface Target {
  host: string;
  port: number;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "postgres:": 5432,
  "postgresql:": 5432,
  "redis:": 6379,
};

function targetOf(options: ProxyOptions): Target {
  if (options.port !== undefined) return { host: "127.0.0.1", port: options.port };
  if (options.url === undefined) throw new TypeError("startProxy needs the port or the url of a server");
  const url = new URL(options.url);
  return {
    host: url.hostname,
    port: url.port === "" ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port),
  };
}

function addressOf(url: string | undefined, port: number): string {
  if (url === undefined) return `tcp://127.0.0.1:${port}`;
  const changed = new URL(url);
  changed.hostname = "127.0.0.1";
  changed.port = String(port);
  return changed.href;
}

class Proxy {
  readonly #target: Target;
  readonly #server: Server;
  readonly #connections = new Set<ProxyConnection>();
  readonly #dropping = new Set<ProxyDirection>();
  #hook: ChunkHook | undefined;
  #delayMs = 0;
  #isCut = false;
  #accepted = 0;

  constructor(target: Target, hook: ChunkHook | undefined) {
    this.#target = target;
    this.#hook = hook;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ port, host: "127.0.0.1" }, resolve);
    });
  }

  connections(): number {
    return this.#connections.size;
  }

  cut(): void {
    this.#isCut = true;
    this.reset();
  }

  reset(): void {
    for (const connection of this.#connections) connection.reset();
  }

  drop(directions: readonly ProxyDirection[]): void {
    for (const direction of directions) this.#dropping.add(direction);
  }

  delay(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  heal(): void {
    this.#isCut = false;
    this.#delayMs = 0;
    this.#dropping.clear();
    for (const connection of this.#connections) if (connection.lostBytes) connection.reset();
  }

  setHook(hook: ChunkHook | undefined): void {
    this.#hook = hook;
  }

  async close(): Promise<void> {
    this.cut();
    if (!this.#server.listening) return;
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    if (this.#isCut) {
      client.on("error", () => undefined);
      client.resetAndDestroy();
      return;
    }
    this.#accepted += 1;
    const number = this.#accepted;
    const server = connect({ ...this.#target, allowHalfOpen: true });
    const connection = new ProxyConnection(
      { client, server },
      {
        delayMs: () => this.#delayMs,
        verdict: async (direction, chunk) => this.#verdict(direction, chunk, number),
        isDropping: (direction) => this.#dropping.has(direction),
      },
      () => this.#connections.delete(connection),
    );
    this.#connections.add(connection);
  }

  async #verdict(direction: ProxyDirection, chunk: Buffer, connection: number): Promise<ProxyVerdict> {
    const verdict = (await this.#hook?.(direction, chunk, connection)) ?? "pass";
    // The hook may have changed the rules for the very chunk it was shown.
    return verdict === "pass" && this.#dropping.has(direction) ? "drop" : verdict;
  }
}
