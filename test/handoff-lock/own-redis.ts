import { startRedis } from "@junban/sandbox";
import type { RedisServer } from "@junban/sandbox";
import { Redis } from "ioredis";
import type { RedisOptions } from "ioredis";
import { afterAll } from "vitest";
import { Lab } from "./lab.ts";

type ConnectOptions = Omit<RedisOptions, "replyMapping">;
type ServerOptions = Parameters<typeof startRedis>[0];

/** A server for one test file that flushes scripts, kills connections, fills memory or restarts. */
export class OwnRedis {
  readonly server: RedisServer;
  readonly #connections: Redis[] = [];

  private constructor(server: RedisServer) {
    this.server = server;
  }

  static async start(options: ServerOptions = { appendOnly: false }): Promise<OwnRedis> {
    const own = new OwnRedis(await startRedis(options));
    afterAll(() => own.#stop());
    return own;
  }

  /** Also reaches the server through a proxy's address. */
  connect(options: ConnectOptions = {}, url: string = this.server.url): Redis {
    const connection = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20, ...options });
    // Outages are what these files are about; ioredis would print each failed attempt.
    connection.on("error", () => {});
    this.#connections.push(connection);
    return connection;
  }

  lab(defaults: ConstructorParameters<typeof Lab>[1] = {}): Lab {
    return new Lab({ prefix: "own", connect: () => this.connect() }, defaults);
  }

  async #stop(): Promise<void> {
    for (const connection of this.#connections) connection.disconnect();
    await this.server.stop();
  }
}
