import { randomBytes } from "node:crypto";
import { createOrderStore } from "@junban/order-store";
import type { Redis } from "ioredis";
import { expect, onTestFinished } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import { eventsOf, poolOf } from "./worker-lab.ts";
import type { Place, WorkerProcess } from "./worker-lab.ts";

export type Bytes = string | Buffer;
export type LanePart = "lock" | "wait" | "body" | "seat" | "done" | "tries";
export type RedisKind = "string" | "list" | "hash" | "set";
export type QueueName = "{payment}" | "{inventory}" | "{line-item}" | "{cancel}";
export type Fields = Readonly<Record<string, Bytes>>;

export interface PlantedJob {
  readonly queue: QueueName;
  readonly id: string;
}

/**
 * Somebody who can write into Redis and knows how jobs and lanes look there: puts in what no client of BullMQ and no publisher
 * would, byte for byte.
 */
export class Intruder {
  readonly redis: Redis;
  readonly #prefix: string;

  constructor({ prefix }: Pick<Place, "prefix">) {
    this.redis = freshRedis().connect();
    this.#prefix = prefix;
  }

  /** A job whose record holds exactly these bytes, waiting in its queue. */
  async plantJob(job: {
    readonly data: Bytes;
    readonly queue?: QueueName;
    readonly fields?: Fields;
  }): Promise<PlantedJob> {
    const { queue = "{payment}", data, fields = {} } = job;
    const id = `h-${randomBytes(6).toString("hex")}`;
    await this.redis
      .multi()
      .hset(this.#queueKey(queue, id), { name: "hostile", opts: "{}", timestamp: "1", ...fields, data })
      .lpush(this.#queueKey(queue, "wait"), id)
      .zadd(this.#queueKey(queue, "marker"), 0, "0")
      .exec();
    return { queue, id };
  }

  /** How a planted job ended: `failed` and its reason, or `gone` once it is done with; null while it is neither. */
  async endOf({ queue, id }: PlantedJob): Promise<string | null> {
    const record = this.#queueKey(queue, id);
    if ((await this.redis.zscore(this.#queueKey(queue, "failed"), id)) !== null) {
      return `failed: ${await this.redis.hget(record, "failedReason")}`;
    }
    return (await this.redis.exists(record)) === 0 ? "gone" : null;
  }

  /** A request as it stands in a line: its key, and what is stored for it. */
  async plantRequest(lcid: string, request: { readonly key: Bytes; readonly stored: Bytes }): Promise<void> {
    await this.redis
      .multi()
      .hset(this.laneKey("body", lcid), request.key, request.stored)
      .rpush(this.laneKey("wait", lcid), request.key)
      .exec();
  }

  /** Something of the given kind, whatever was there before. */
  async plantKind(key: string, kind: RedisKind): Promise<void> {
    const multi = this.redis.multi().del(key);
    if (kind === "string") multi.set(key, "not what you think");
    else if (kind === "list") multi.rpush(key, "not", "what");
    else if (kind === "hash") multi.hset(key, "not", "what");
    else multi.sadd(key, "not", "what");
    await multi.exec();
  }

  laneKey(part: LanePart, lcid: string): string {
    return `${this.#prefix}:${part}:{${lcid}}`;
  }

  /** Whether nothing stands in a lane any more. */
  async isServed(lcid: string): Promise<boolean> {
    const parts = (["wait", "body"] as const).map((part) => this.laneKey(part, lcid));
    return (await this.redis.exists(...parts)) === 0;
  }

  #queueKey(queue: QueueName, name: string): string {
    return `${this.#prefix}:${queue}:${name}`;
  }
}

/** What is stored for a request: when it was published, and its body. */
export function stamped(body: string): string {
  return `${Date.now()}:${body}`;
}

/** A key such as every publisher and worker makes. */
export function requestKey(): string {
  return randomBytes(16).toString("base64url");
}

/** What must not be touched, and how the worker felt about it all the time. */
export class Bystanders {
  readonly #place: Place;
  readonly #worker: WorkerProcess;
  readonly #foreign = freshRedis();
  readonly #redis = this.#foreign.connect();
  #tables: readonly string[] = [];
  #unready: string[] = [];
  #hasExited = false;

  private constructor(place: Place, worker: WorkerProcess) {
    this.#place = place;
    this.#worker = worker;
  }

  static async watch(place: Place, worker: WorkerProcess): Promise<Bystanders> {
    const watching = new Bystanders(place, worker);
    await watching.#begin();
    return watching;
  }

  /** Other people's keys, the tables, every order's history, and the worker, which was ready whenever it was asked. */
  async expectUnharmed(): Promise<void> {
    expect(this.#hasExited, "the worker runs").toBe(false);
    expect(this.#unready, "answers of /readyz").toEqual([]);
    expect((await this.#worker.get("/livez")).status).toBe(200);
    expect(await this.#keys()).toEqual({ text: "mine", list: ["a", "b"], hash: { a: "1" } });
    expect(await this.#namesOfTables()).toEqual(this.#tables);
    const store = createOrderStore({ databaseUrl: this.#place.databaseUrl, worker: "test" });
    try {
      for await (const { lcid, differences } of store.audit()) {
        expect([lcid, differences]).toEqual([lcid, []]);
      }
    } finally {
      await store.close();
    }
  }

  async #begin(): Promise<void> {
    const { prefix } = this.#foreign;
    await this.#redis
      .multi()
      .set(`${prefix}:text`, "mine")
      .rpush(`${prefix}:list`, "a", "b")
      .hset(`${prefix}:hash`, "a", "1")
      .exec();
    this.#tables = await this.#namesOfTables();
    void this.#worker.exited.then(() => {
      this.#hasExited = true;
    });
    const asking = setInterval(() => void this.#ask(), 250);
    onTestFinished(() => clearInterval(asking));
  }

  async #ask(): Promise<void> {
    const answer = await this.#worker
      .get("/readyz")
      .catch((error: unknown) => ({ status: 0, text: String(error) }));
    if (answer.status !== 200) this.#unready.push(answer.text);
  }

  async #keys(): Promise<unknown> {
    const { prefix } = this.#foreign;
    return {
      text: await this.#redis.get(`${prefix}:text`),
      list: await this.#redis.lrange(`${prefix}:list`, 0, -1),
      hash: await this.#redis.hgetall(`${prefix}:hash`),
    };
  }

  async #namesOfTables(): Promise<readonly string[]> {
    const { rows } = await poolOf(this.#place).query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
    );
    return rows.map(({ name }) => name);
  }
}

/** The neighbours' events were each applied, once, and first decided in publish order, whatever was decided between them. */
export async function expectServed(place: Place, lcids: readonly string[], count: number): Promise<void> {
  await eventually(
    async () => {
      const { rows } = await poolOf(place).query<{ lcid: string; id: string; outcome: string }>(
        "SELECT lcid, event_id AS id, outcome FROM order_events WHERE source = '/lab' ORDER BY seq",
      );
      for (const lcid of lcids) {
        const decided = rows.filter((row) => row.lcid === lcid);
        expect(decided).toEqual(eventsOf(lcid, count).map(({ id }) => ({ lcid, id, outcome: "applied" })));
      }
    },
    { withinMs: 60_000, everyMs: 100 },
  );
}
