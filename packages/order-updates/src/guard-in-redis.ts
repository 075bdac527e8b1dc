import type { RedisAddress } from "@junban/event-queues";
import { createLanes } from "@junban/handoff-lock";
import type { Lanes } from "@junban/handoff-lock";
import { Redis } from "ioredis";
import type { RedisOptions } from "ioredis";
import type { Gap, HandlerContext } from "./contract.ts";
import { GuardUnavailableError, OrderUpdatesError } from "./errors.ts";
import { judge } from "./guard.ts";
import type { Guard, Notice, Passage } from "./guard.ts";

/** Longer than orders are changed for; an order that rests longer is met again with a gap. */
const KEEP_MS = 400 * 86_400_000;

type Act = (gap: Gap | null, context: HandlerContext) => Promise<void>;

/**
 * The guard with an effect at least once: the handler runs under a lease of the lane, and the version is remembered
 * after it. A process that is frozen beyond its lease may still be at work when another takes over; `signal` tells it.
 *
 * What is remembered is a sorted set, because Redis can raise a score in one step and never lowers it (`ZADD GT`): a holder
 * that lost its lease cannot turn the version back, and no script is needed.
 */
export class GuardInRedis implements Guard<HandlerContext> {
  readonly #redis: Redis;
  readonly #lanes: Lanes;
  readonly #prefix: string;
  readonly #gapWaitMs: number;

  constructor(options: { redis: RedisAddress; prefix: string; gapWaitMs: number; leaseMs: number }) {
    const { redis, prefix, gapWaitMs, leaseMs } = options;
    this.#redis = open(redis, {
      maxRetriesPerRequest: 1,
      commandTimeout: Math.ceil(leaseMs / 3),
      // After a failover the old connection may lead to a replica; only a new one finds the new primary.
      reconnectOnError: (error) => error.message.startsWith("READONLY"),
    });
    // Whoever fetches the jobs tells of outages of this server, and each attempt that meets one says so itself.
    this.#redis.on("error", () => undefined);
    this.#lanes = createLanes({ redis: this.#redis, prefix, leaseMs });
    this.#prefix = prefix;
    this.#gapWaitMs = gapWaitMs;
  }

  async pass(notice: Notice, act: Act): Promise<Passage> {
    try {
      const entry = await this.#lanes.enter(notice.lcid);
      if (entry.kind !== "turn") return { kind: "busy" };
      const { turn } = entry;
      try {
        return await this.#decided(notice, async (gap) => act(gap, { signal: turn.signal }));
      } finally {
        await turn.leave();
      }
    } catch (error) {
      if (error instanceof OrderUpdatesError) throw error;
      const detail = error instanceof Error ? error.message : String(error);
      throw new GuardUnavailableError({ detail }, { cause: error });
    }
  }

  async close(): Promise<void> {
    await this.#lanes.close();
    this.#redis.disconnect();
  }

  async #decided({ lcid, version }: Notice, act: (gap: Gap | null) => Promise<void>): Promise<Passage> {
    const key = `${this.#prefix}:seen:{${lcid}}`;
    const [last, since, nowMs] = await Promise.all([
      this.#redis.zscore(key, "version"),
      this.#redis.zscore(key, "waiting"),
      this.#nowMs(),
    ]);
    const waitedMs = since === null ? null : nowMs - Number(since);
    const verdict = judge({ version, last: Number(last ?? 0), waitedMs, gapWaitMs: this.#gapWaitMs });
    if (verdict.kind === "waiting" && since === null) await this.#redis.zadd(key, "NX", nowMs, "waiting");
    if (verdict.kind !== "go") return verdict;
    // What was missing has come: should the handler fail or die, those that wait begin to wait anew.
    if (verdict.gap === null && since !== null) await this.#redis.zrem(key, "waiting");
    await act(verdict.gap);
    await Promise.all([
      this.#redis.zadd(key, "GT", version, "version"),
      this.#redis.zrem(key, "waiting"),
      this.#redis.pexpire(key, KEEP_MS),
    ]);
    return { kind: "handled", gap: verdict.gap };
  }

  /** The server's clock, which all consumers share. */
  async #nowMs(): Promise<number> {
    const [seconds, microseconds] = await this.#redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  }
}

function open(address: RedisAddress, settings: RedisOptions): Redis {
  // The form of replies that the rest of the fleet reads; it decides the type of the client.
  const wanted = { ...settings, replyMapping: "legacy" as const };
  if (typeof address === "string") return new Redis(address, wanted);
  return isClient(address) ? address.duplicate(wanted) : new Redis({ ...address, ...wanted });
}

function isClient(address: Exclude<RedisAddress, string>): address is Redis {
  return "duplicate" in address && typeof address.duplicate === "function";
}
