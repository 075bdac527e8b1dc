import { randomBytes } from "node:crypto";
import type { Family } from "@junban/orders";
import type { Redis } from "ioredis";
import { isClient, lastingSettings, openConnection } from "./connection.ts";
import type { RedisAddress } from "./connection.ts";
import type { ErrorReports } from "./error-reports.ts";
import { consumerConnectionName } from "./names.ts";

export interface ConsumerConnectionsOptions {
  readonly redis: RedisAddress;
  readonly prefix: string;
  readonly families: readonly Family[];
  /** A connection that owes an answer for so long is dropped and made anew. */
  readonly silenceMs: number;
}

/** One connection for all commands of a consumer, and one a family for BullMQ's blocking wait. */
export class ConsumerConnections {
  readonly main: Redis;
  readonly #blocking: ReadonlyMap<Family, Redis>;
  readonly #reports: ErrorReports;
  readonly #isShared: boolean;
  readonly #onReady = (): void => this.#reports.connected();
  readonly #onError = (error: Error): void => this.#reports.add(error);

  constructor(options: ConsumerConnectionsOptions, reports: ErrorReports) {
    const { redis, silenceMs } = options;
    this.#reports = reports;
    this.#isShared = isClient(redis) && redis.options.maxRetriesPerRequest === null;
    this.main =
      isClient(redis) && this.#isShared
        ? redis
        : openConnection(redis, { ...lastingSettings(), socketTimeout: silenceMs });
    this.main.on("ready", this.#onReady).on("error", this.#onError);
    // Shows which connections belong to one consumer; nobody needs to know more about it.
    const consumerId = randomBytes(6).toString("hex");
    this.#blocking = new Map(
      options.families.map((family) => {
        const connectionName = consumerConnectionName({ prefix: options.prefix, family, consumerId });
        const client = openConnection(redis, { ...lastingSettings(), connectionName });
        return [family, client.on("error", this.#onError)];
      }),
    );
  }

  blockingFor(family: Family): Redis {
    const client = this.#blocking.get(family);
    if (client === undefined) throw new RangeError(`not a family of this consumer: ${family}`);
    return client;
  }

  get isUp(): boolean {
    return this.main.status === "ready";
  }

  /** Ends what was opened here, at once. A client that the caller lent stays as it is. */
  end(): void {
    for (const client of this.#blocking.values()) client.disconnect();
    this.main.off("ready", this.#onReady);
    if (this.#isShared) this.main.off("error", this.#onError);
    else this.main.disconnect();
  }
}
