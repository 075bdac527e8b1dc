import type { Redis } from "ioredis";
import { laneKey } from "../../packages/handoff-lock/src/lane-names.ts";
import type { LaneKey } from "../../packages/handoff-lock/src/lane-names.ts";
import { KEYS_OF, scriptText } from "../../packages/handoff-lock/src/script-texts.ts";
import type { ScriptName } from "../../packages/handoff-lock/src/script-texts.ts";

interface RawLaneOptions {
  readonly prefix: string;
  readonly lcid: string;
  /** Texts to run instead of the real ones: a script with one of its guards taken out. */
  readonly texts?: Partial<Record<ScriptName, string>>;
  readonly leaseMs?: number;
  readonly ttlMs?: number;
  readonly batch?: number;
  readonly cap?: number;
}

export interface LaneState {
  readonly lock: string | null;
  readonly line: readonly string[];
  readonly bodies: Readonly<Record<string, string>>;
  readonly seats: Readonly<Record<string, string>>;
  readonly outcomes: Readonly<Record<string, string>>;
  readonly tries: string | null;
}

export interface RawEntry {
  readonly token: string;
  readonly key?: string;
  readonly body?: string;
  readonly channel?: string;
}

export interface RawHandoff {
  readonly token: string;
  readonly own?: readonly string[];
  readonly delivered?: readonly string[];
  readonly others?: Readonly<Record<string, string>>;
  readonly yieldTurn?: boolean;
  readonly batch?: number;
}

/** One lane, driven script by script: for what the package's face never does, such as calling with somebody else's token. */
export class RawLane {
  readonly redis: Redis;
  readonly lcid: string;
  readonly #options: RawLaneOptions;
  readonly #texts: Readonly<Record<ScriptName, string>>;

  constructor(redis: Redis, options: RawLaneOptions) {
    this.redis = redis;
    this.lcid = options.lcid;
    this.#options = options;
    const names = Object.keys(KEYS_OF) as ScriptName[];
    this.#texts = Object.fromEntries(
      names.map((name) => [name, options.texts?.[name] ?? scriptText(name)]),
    ) as Record<ScriptName, string>;
  }

  key(name: LaneKey): string {
    return laneKey(this.#options.prefix, name, this.lcid);
  }

  async run(name: ScriptName, args: readonly (string | number)[]): Promise<unknown> {
    const keys = KEYS_OF[name].map((key) => this.key(key));
    return this.redis.call("eval", [this.#texts[name], keys.length, ...keys, ...args]);
  }

  async queue(...keys: readonly string[]): Promise<unknown> {
    const { cap = 1000, ttlMs = 60_000 } = this.#options;
    return this.run("queue", [cap, ttlMs, ...keys.flatMap((key) => [key, `body of ${key}`])]);
  }

  async enter({ token, key = "", body, channel = "" }: RawEntry): Promise<unknown> {
    const { leaseMs = 10_000, ttlMs = 60_000, batch = 256 } = this.#options;
    return this.run("enter", [
      token,
      leaseMs,
      ttlMs,
      batch,
      channel,
      key,
      ...(body === undefined ? [] : [body]),
    ]);
  }

  async handoff({
    token,
    own = [],
    delivered = [],
    others = {},
    yieldTurn = false,
    batch,
  }: RawHandoff): Promise<unknown> {
    const { leaseMs = 10_000, ttlMs = 60_000 } = this.#options;
    const limit = batch ?? this.#options.batch ?? 256;
    const args = [token, leaseMs, ttlMs, limit, yieldTurn ? 1 : 0, own.length, delivered.length];
    return this.run("handoff", [...args, ...own, ...delivered, ...Object.entries(others).flat()]);
  }

  async renew(token: string, leaseMs = 10_000): Promise<unknown> {
    return this.run("renew", [token, leaseMs]);
  }

  async leave(token: string): Promise<unknown> {
    return this.run("leave", [token, this.#options.ttlMs ?? 60_000]);
  }

  async stepBack(key: string, channel: string): Promise<unknown> {
    return this.run("step-back", [key, channel]);
  }

  async withdraw(key: string, value: string): Promise<unknown> {
    return this.run("withdraw", [key, value, this.#options.ttlMs ?? 60_000]);
  }

  /** Everything the lane holds, except how long it still lives. */
  async state(): Promise<LaneState> {
    const { redis } = this;
    const [lock, line, bodies, seats, outcomes, tries] = await Promise.all([
      redis.get(this.key("lock")),
      redis.lrange(this.key("wait"), 0, -1),
      redis.hgetall(this.key("body")),
      redis.hgetall(this.key("seat")),
      redis.hgetall(this.key("done")),
      redis.get(this.key("tries")),
    ]);
    return { lock, line, bodies, seats, outcomes: withoutStamps(outcomes), tries };
  }
}

/** Outcomes are stored behind the time they were stored at. */
function withoutStamps(outcomes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(outcomes).map(([key, stored]) => [key, stored.replace(/^\d+:/, "")]),
  );
}

/** The kind of an answer: the number it begins with, or is. */
export function answerCode(reply: unknown): number {
  return Number(Array.isArray(reply) ? reply[0] : reply);
}

/** The keys handed out by an `enter` (from its third item) or a `handoff` (from its second). */
export function handedOut(reply: unknown, from: 1 | 2): string[] {
  return (reply as string[]).slice(from).filter((_, index) => index % 2 === 0);
}
