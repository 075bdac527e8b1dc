import { expect } from "vitest";
import type { ScriptName } from "../../packages/handoff-lock/src/script-texts.ts";
import type { Listener } from "./listener.ts";
import type { RawLane } from "./raw-lane.ts";
import { answerCode, handedOut } from "./raw-lane.ts";

export interface Guard {
  readonly script: ScriptName;
  /** What the guard sees to, as the rest of "… " after the script's name. */
  readonly says: string;
  /** The guard in the script, and what stands there when it is taken out. */
  readonly guard: string;
  readonly without: string;
  /** Holds with the guard and fails without it. The lane is empty and the listener is alive. */
  readonly promise: (lane: RawLane, listener: Listener) => Promise<void>;
}

/** I1: whatever a call with a token that is not in the lock does, the lane is the same afterwards. */
async function expectUnchanged(lane: RawLane, call: () => Promise<unknown>): Promise<void> {
  await lane.queue("a", "b");
  await lane.enter({ token: "holder", key: "a" });
  await lane.redis.hset(lane.key("seat"), "b", "nobody");
  await lane.redis.pexpire(lane.key("lock"), 5000);
  const before = await lane.state();
  expect(answerCode(await call())).toBe(0);
  expect(await lane.state()).toEqual(before);
  expect(await lane.redis.pttl(lane.key("lock"))).toBeLessThanOrEqual(5000);
}

/** A lane that lost one body and, unless told otherwise, nothing else: one entry has nothing to show. */
async function loseBodyOf(lane: RawLane, key: string): Promise<void> {
  expect(await lane.redis.hdel(lane.key("body"), key)).toBe(1);
}

async function expectSound(lane: RawLane): Promise<void> {
  const { line, bodies } = await lane.state();
  expect(line.toSorted()).toEqual(Object.keys(bodies).toSorted());
}

export const TOKEN_GUARDS: readonly Guard[] = [
  {
    script: "renew",
    says: "acts only on its own token",
    guard: "redis.call('GET', KEYS[1]) ~= ARGV[1]",
    without: "false",
    promise: (lane) => expectUnchanged(lane, () => lane.renew("stale", 300_000)),
  },
  {
    script: "handoff",
    says: "acts only on its own token",
    guard: "redis.call('GET', lock) ~= ARGV[1]",
    without: "false",
    promise: (lane) => expectUnchanged(lane, () => lane.handoff({ token: "stale", others: { a: "done" } })),
  },
  {
    script: "leave",
    says: "acts only on its own token",
    guard: "redis.call('GET', lock) ~= ARGV[1]",
    without: "false",
    promise: (lane) => expectUnchanged(lane, () => lane.leave("stale")),
  },
  {
    script: "enter",
    says: "takes no lane that another token holds",
    guard: "not holder or holder == token",
    without: "true",
    promise: async (lane) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "holder", key: "a" });
      expect(answerCode(await lane.enter({ token: "other", key: "b" }))).toBe(2);
      expect((await lane.state()).lock).toBe("holder");
    },
  },
  {
    script: "renew",
    says: "never creates a lock that is gone",
    guard:
      "if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n  return 0\nend\nredis.call('PEXPIRE', KEYS[1], ARGV[2])",
    without: "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])",
    promise: async (lane) => {
      expect(await lane.renew("gone")).toBe(0);
      expect(await lane.redis.exists(lane.key("lock"))).toBe(0);
    },
  },
];

export const LINE_GUARDS: readonly Guard[] = [
  {
    script: "queue",
    says: "takes no line beyond its cap",
    guard: "depth + new > cap",
    without: "false",
    promise: async (lane) => {
      await lane.queue(...Array.from({ length: 1000 }, (_, index) => `k${index}`));
      expect(await lane.queue("k0", "one too many")).toEqual([0, 1000]);
      expect((await lane.state()).line).toHaveLength(1000);
    },
  },
  {
    script: "queue",
    says: "lets no request stand twice",
    guard: "redis.call('HSETNX', body, ARGV[index], prefix .. ARGV[index + 1]) == 1",
    without: "redis.call('HSETNX', body, ARGV[index], prefix .. ARGV[index + 1]) >= 0",
    promise: async (lane) => {
      await lane.queue("a");
      await lane.queue("a", "b");
      expect((await lane.state()).line).toEqual(["a", "b"]);
    },
  },
  {
    script: "enter",
    says: "lets no request stand twice",
    guard: "redis.call('HEXISTS', body, key) == 0",
    without: "true",
    promise: async (lane) => {
      await lane.queue("a");
      await lane.enter({ token: "t", key: "a", body: "again" });
      expect((await lane.state()).line).toEqual(["a"]);
    },
  },
  {
    script: "enter",
    says: "takes its own lane again, as the same turn, when it is sent twice",
    guard: "holder == token",
    without: "false",
    promise: async (lane) => {
      await lane.queue("a");
      const first = await lane.enter({ token: "t", key: "a" });
      expect(await lane.enter({ token: "t", key: "a" })).toEqual(first);
    },
  },
  {
    script: "enter",
    says: "counts a turn once, however often it is asked for",
    guard: "holder and tonumber(redis.call('GET', KEYS[6]) or 0) or redis.call('INCR', KEYS[6])",
    without: "redis.call('INCR', KEYS[6])",
    promise: async (lane) => {
      await lane.queue("a");
      await lane.enter({ token: "t", key: "a" });
      await lane.enter({ token: "t", key: "a" });
      expect((await lane.state()).tries).toBe("1");
    },
  },
  {
    script: "enter",
    says: "keeps a place in line for a request that is not standing",
    guard: "redis.call('RPUSH', wait, key)",
    without: "",
    promise: async (lane) => {
      await lane.queue("a");
      await lane.enter({ token: "holder", key: "a" });
      await lane.enter({ token: "t", key: "b", body: "b" });
      expect((await lane.state()).line).toEqual(["a", "b"]);
    },
  },
  {
    script: "handoff",
    says: "looks at each head before it goes, instead of trimming by count",
    guard: "if values[head] == nil then\n      break\n    end",
    without: "",
    promise: async (lane) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await lane.handoff({ token: "t", others: { b: "done" } });
      expect((await lane.state()).line).toEqual(["a"]);
    },
  },
  {
    script: "handoff",
    says: "forgets the vanished holders of before",
    guard: "redis.call('DEL', KEYS[6])\nredis.call('PEXPIRE', wait, ttlMs)",
    without: "redis.call('PEXPIRE', wait, ttlMs)",
    promise: async (lane) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await lane.handoff({ token: "t", own: ["a"] });
      expect((await lane.state()).tries).toBeNull();
    },
  },
  {
    script: "withdraw",
    says: "drops nothing that is not standing",
    guard: "redis.call('LREM', wait, 1, key) == 0",
    without: "false",
    promise: async (lane) => {
      await lane.queue("a");
      expect(await lane.withdraw("b", "withdrawn")).toBe(0);
      expect((await lane.state()).outcomes).toEqual({});
    },
  },
];

export const TELLING_GUARDS: readonly Guard[] = [
  {
    script: "handoff",
    says: "keeps the outcome of a waiter that nobody hears",
    guard: "redis.call('PUBLISH', channel, cjson.encode(message)) == 0",
    without: "redis.call('PUBLISH', channel, cjson.encode(message)) < 0",
    promise: async (lane) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await lane.enter({ token: "dead", key: "b", channel: "nobody" });
      await lane.handoff({ token: "t", own: ["a"], others: { b: "applied" } });
      expect((await lane.state()).outcomes).toEqual({ b: "applied" });
    },
  },
  {
    script: "handoff",
    says: "leaves nothing behind for the caller's own outcomes",
    guard: "values[ARGV[index]] = false",
    without: "values[ARGV[index]] = 'own'",
    promise: async (lane) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await lane.handoff({ token: "t", own: ["a"] });
      expect((await lane.state()).outcomes).toEqual({});
    },
  },
  {
    script: "handoff",
    says: "leaves nothing behind for what the caller has delivered since",
    guard: "redis.call('HDEL', KEYS[5], unpack(ARGV, delivered, others - 1))",
    without: "",
    promise: async (lane) => {
      await lane.queue("a", "b", "c");
      await lane.enter({ token: "t", key: "a" });
      await lane.handoff({ token: "t", others: { a: "applied", b: "applied" } });
      await lane.handoff({ token: "t", delivered: ["b"], own: ["c"] });
      expect((await lane.state()).outcomes).toEqual({ a: "applied" });
    },
  },
  {
    script: "handoff",
    says: "yields only to somebody who hears it",
    guard: "redis.call('PUBLISH', channel, cjson.encode({ 'wake', lane, key })) > 0",
    without: "redis.call('PUBLISH', channel, cjson.encode({ 'wake', lane, key })) >= 0",
    promise: async (lane) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await lane.enter({ token: "dead", key: "b", channel: "nobody" });
      expect(answerCode(await lane.handoff({ token: "t", own: ["a"], yieldTurn: true }))).toBe(3);
      expect((await lane.state()).lock).toBe("t");
    },
  },
  {
    script: "leave",
    says: "wakes a waiter",
    guard: "wake(string.match(lock, '{(.*)}'), wait, seat)",
    without: "",
    promise: async (lane, listener) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await lane.enter({ token: "waiter", key: "b", channel: listener.channel });
      await lane.leave("t");
      expect(await listener.settled()).toEqual([["wake", lane.lcid, "b"]]);
    },
  },
  {
    script: "leave",
    says: "deletes the seats it found silent",
    guard: "redis.call('HDEL', seat, key)\n    return false",
    without: "return false",
    promise: async (lane) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await lane.enter({ token: "dead", key: "b", channel: "nobody" });
      await lane.leave("t");
      expect((await lane.state()).seats).toEqual({});
    },
  },
  {
    script: "step-back",
    says: "leaves a seat alone that another process has taken over",
    guard: "redis.call('HGET', seat, key) == ARGV[2]",
    without: "true",
    promise: async (lane) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await lane.enter({ token: "waiter", key: "b", channel: "the newer process" });
      await lane.stepBack("b", "the older process");
      expect((await lane.state()).seats).toEqual({ b: "the newer process" });
    },
  },
  {
    script: "step-back",
    says: "passes on a wake that may have been on its way to it",
    guard: "redis.call('EXISTS', lock) == 0",
    without: "false",
    promise: async (lane, listener) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await lane.enter({ token: "tired", key: "a", channel: "the tired process" });
      await lane.enter({ token: "waiter", key: "b", channel: listener.channel });
      await lane.redis.del(lane.key("lock"));
      await lane.stepBack("a", "the tired process");
      expect(await listener.settled()).toEqual([["wake", lane.lcid, "b"]]);
    },
  },
];

const UNEVEN = {
  says: "mends a lane whose line and bodies are of different length",
  guard: "redis.call('LLEN', wait) ~= redis.call('HLEN', body)",
  without: "false",
} as const;

export const REPAIR_GUARDS: readonly Guard[] = [
  {
    script: "queue",
    ...UNEVEN,
    promise: async (lane) => {
      await lane.queue("a", "b");
      await loseBodyOf(lane, "a");
      await lane.queue("c");
      await expectSound(lane);
    },
  },
  {
    script: "enter",
    ...UNEVEN,
    promise: async (lane) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await lane.redis.lrem(lane.key("wait"), 1, "b");
      expect(answerCode(await lane.enter({ token: "waiter", key: "b" }))).toBe(3);
      await expectSound(lane);
    },
  },
  {
    script: "handoff",
    ...UNEVEN,
    promise: async (lane) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await lane.redis.lrem(lane.key("wait"), 1, "b");
      await lane.handoff({ token: "t", own: ["a"] });
      await expectSound(lane);
    },
  },
  {
    script: "leave",
    ...UNEVEN,
    promise: async (lane) => {
      await lane.queue("a", "b");
      await lane.enter({ token: "t", key: "a" });
      await loseBodyOf(lane, "b");
      await lane.leave("t");
      await expectSound(lane);
    },
  },
  {
    script: "withdraw",
    ...UNEVEN,
    promise: async (lane) => {
      await lane.queue("a", "b");
      await loseBodyOf(lane, "b");
      await lane.withdraw("a", "withdrawn");
      await expectSound(lane);
    },
  },
  {
    script: "enter",
    says: "finds one lost entry beside one lost body",
    guard: "if not bodies[index] then",
    without: "if false then",
    promise: async (lane) => {
      await lane.queue("a", "b", "c");
      await loseBodyOf(lane, "a");
      await lane.redis.lrem(lane.key("wait"), 1, "b");
      expect(handedOut(await lane.enter({ token: "t", key: "c" }), 2)).toEqual(["c"]);
      await expectSound(lane);
    },
  },
];
