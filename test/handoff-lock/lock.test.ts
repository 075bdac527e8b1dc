import { LeaseLostError } from "@junban/handoff-lock";
import { afterAll, describe, expect, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import { keysOf, Lab, NEVER, numbered, request, requests, serve, settle, turnOf } from "./lab.ts";
import { RawLane } from "./raw-lane.ts";

const fresh = freshRedis();
const redis = fresh.connect();
const lab = new Lab({ prefix: fresh.prefix, connect: () => fresh.connect() });
const [first, second] = [lab.process(), lab.process()];
afterAll(() => lab.close());

describe("L1: one key per lane, taken atomically with a token and a lifetime", () => {
  test("the lock is one key that holds the turn's token and lapses by itself", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, requests("a"));
    const turn = turnOf(await first.enter(lcid, request("a")));
    const key = `${lab.prefix}:lock:{${lcid}}`;
    expect(await redis.get(key)).toBe(turn.token);
    expect(await redis.pttl(key)).toBeGreaterThan(5000);
    expect(await redis.pttl(key)).toBeLessThanOrEqual(10_000);
  });

  test("of a hundred who enter at once exactly one gets the turn", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, numbered(100));
    const entries = await Promise.all(
      numbered(100).map((one, index) => (index % 2 === 0 ? first : second).enter(lcid, one)),
    );
    expect(entries.filter(({ kind }) => kind === "turn")).toHaveLength(1);
  });

  test("no token is used twice", async () => {
    const lcid = lab.lane();
    const tokens = new Set<string>();
    for (let count = 0; count < 20; count += 1) {
      const turn = turnOf(await (count % 2 === 0 ? first : second).enter(lcid));
      tokens.add(turn.token);
      await turn.leave();
    }
    expect(tokens.size).toBe(20);
  });

  test("maintenance takes a free lane, even an empty one, and waits for a held one", async () => {
    const lcid = lab.lane();
    const turn = turnOf(await first.enter(lcid));
    expect(turn.requests).toEqual([]);
    expect(await second.enter(lcid)).toEqual({ kind: "waiting", position: 0 });
    expect(await turn.handOff([])).toEqual({ kind: "released" });
  });
});

test("L2: lanes share no lock", async () => {
  const lcids = Array.from({ length: 50 }, () => lab.lane());
  await first.queueMany(lcids.map((lcid) => ({ lcid, requests: requests("a") })));
  const entries = await Promise.all(lcids.map((lcid) => first.enter(lcid, request("a"))));
  expect(entries.every(({ kind }) => kind === "turn")).toBe(true);
  await Promise.all(entries.map((entry) => serve(turnOf(entry))));
});

describe("L4: the finisher hands on under the same lock", () => {
  test("serves a whole line with one acquisition, and lets go only when it is empty", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, numbered(1_000));
    const turn = turnOf(await first.enter(lcid, request("r0")));
    const batches = [keysOf(turn.requests)];
    for (;;) {
      expect(await redis.get(`${lab.prefix}:lock:{${lcid}}`)).toBe(turn.token);
      const answer = await turn.handOff(settle(...batches.at(-1)!));
      if (answer.kind !== "next") break;
      batches.push(keysOf(answer.requests));
    }
    expect(batches.map((batch) => batch.length)).toEqual([256, 256, 256, 232]);
    expect(batches.flat()).toEqual(keysOf(numbered(1_000)));
    expect(await redis.exists(`${lab.prefix}:lock:{${lcid}}`)).toBe(0);
  });

  test("serves a request that came after its turn began", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, requests("a"));
    const turn = turnOf(await first.enter(lcid, request("a")));
    await second.queue(lcid, requests("b"));
    expect(await turn.handOff(settle("a"))).toMatchObject({ kind: "next", requests: [{ key: "b" }] });
    expect(await turn.handOff(settle("b"))).toEqual({ kind: "released" });
  });

  test("yields to a live waiter when asked to, and the waiter has the rest of the line", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, requests("a", "b"));
    const turn = turnOf(await first.enter(lcid, request("a")));
    const standing = second.stand(lcid, request("b"), { signal: NEVER });
    await eventually(async () => (await first.inspect(lcid)).seats === 1);
    expect(await turn.handOff(settle("a"), { yieldTurn: true })).toEqual({ kind: "yielded" });
    expect(await serve(turnOf(await standing))).toEqual(["b"]);
  });

  test("goes on when it is asked to yield and nobody waits", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, requests("a", "b"));
    const turn = turnOf(await first.enter(lcid, request("a")));
    expect(await turn.handOff(settle("a"), { yieldTurn: true })).toMatchObject({ kind: "next" });
    await turn.leave();
  });
});

describe("L7: a holder that is gone blocks its lane until the lease lapses, and no longer", () => {
  test("the next to come after the lease gets the same head, and is told how many vanished", async () => {
    const lcid = lab.lane();
    const lane = new RawLane(redis, { prefix: lab.prefix, lcid, leaseMs: 150 });
    await lane.queue("a", "b");
    await lane.enter({ token: "vanished", key: "a" });
    const turn = await eventually(async () => {
      const entry = await first.enter(lcid, request("b"));
      return entry.kind === "turn" && entry.turn;
    });
    expect(keysOf(turn.requests)).toEqual(["a", "b"]);
    expect(turn.tries).toBe(2);
    await turn.leave();
    expect((await first.inspect(lcid)).tries).toBe(0);
  });
});

describe("L8: a healthy holder keeps its lane", () => {
  test("renews far beyond the lease, every turn of the process in its own right", async () => {
    const quick = lab.process({ leaseMs: 1500 });
    const lcids = Array.from({ length: 20 }, () => lab.lane());
    const turns = await Promise.all(lcids.map(async (lcid) => turnOf(await quick.enter(lcid))));
    const startedAtMs = performance.now();
    await eventually(() => turns.every((turn) => turn.deadlineMs() - turn.startedAtMs > 4000));
    expect(performance.now() - startedAtMs).toBeGreaterThan(2000);
    for (const turn of turns) {
      expect(turn.signal.aborted).toBe(false);
      expect((await quick.inspect(turn.lcid)).holder).toBe(turn.token);
      expect(turn.deadlineMs()).toBeGreaterThan(performance.now());
    }
    await Promise.all(turns.map((turn) => turn.leave()));
  });

  test("a renewal that finds another token stops that turn, and leaves the lock as it is", async () => {
    const lost: string[] = [];
    const quick = lab.process({ leaseMs: 3000, onLeaseLost: (lcid, why) => lost.push(`${lcid} ${why}`) });
    const lcid = lab.lane();
    const turn = turnOf(await quick.enter(lcid));
    const other = turnOf(await quick.enter(lab.lane()));
    await redis.set(`${lab.prefix}:lock:{${lcid}}`, "somebody else", "PX", 60_000);
    await eventually(() => turn.signal.aborted);
    expect(turn.signal.reason).toBeInstanceOf(LeaseLostError);
    expect(turn.signal.reason).toMatchObject({ code: "LEASE_LOST", lcid, why: "taken" });
    expect(lost).toEqual([`${lcid} taken`]);
    expect(await redis.get(`${lab.prefix}:lock:{${lcid}}`)).toBe("somebody else");
    expect(await turn.handOff([])).toEqual({ kind: "lost" });
    expect(other.signal.aborted).toBe(false);
    await other.leave();
  });

  test("a renewal that finds no lock at all does not create it again", async () => {
    const quick = lab.process({ leaseMs: 3000 });
    const lcid = lab.lane();
    const turn = turnOf(await quick.enter(lcid));
    await redis.del(`${lab.prefix}:lock:{${lcid}}`);
    await eventually(() => turn.signal.aborted);
    expect(await redis.exists(`${lab.prefix}:lock:{${lcid}}`)).toBe(0);
  });

  test("a signal first looked at after the loss is aborted as well", async () => {
    const quick = lab.process({ leaseMs: 3000 });
    const lcid = lab.lane();
    const turn = turnOf(await quick.enter(lcid));
    await redis.del(`${lab.prefix}:lock:{${lcid}}`);
    await eventually(async () => (await turn.handOff([])).kind === "lost");
    expect(turn.signal.aborted).toBe(true);
  });
});

test("L9: a holder that overran cannot touch the next holder's turn", async () => {
  const lcid = lab.lane();
  await first.queue(lcid, requests("a", "b"));
  const overrun = turnOf(await first.enter(lcid, request("a")));
  await redis.del(`${lab.prefix}:lock:{${lcid}}`);
  const next = turnOf(await second.enter(lcid, request("b")));
  const lane = new RawLane(redis, { prefix: lab.prefix, lcid });
  const before = await lane.state();
  expect(await overrun.handOff(settle("a", "b"))).toEqual({ kind: "lost" });
  await overrun.leave();
  expect(await lane.state()).toEqual(before);
  expect(await serve(next)).toEqual(["a", "b"]);
});

describe("leaving", () => {
  test("is harmless twice, and after the turn is over", async () => {
    const lcid = lab.lane();
    const turn = turnOf(await first.enter(lcid));
    await turn.leave();
    const next = turnOf(await second.enter(lcid));
    await turn.leave();
    expect((await first.inspect(lcid)).holder).toBe(next.token);
    expect(await turn.handOff([])).toEqual({ kind: "lost" });
    await next.handOff([]);
    await next.leave();
  });

  test("closing leaves every turn still held, ends their signals, and may be asked for twice", async () => {
    const closing = lab.process();
    const lcids = [lab.lane(), lab.lane()];
    const turns = await Promise.all(lcids.map(async (lcid) => turnOf(await closing.enter(lcid))));
    await Promise.all([closing.close(), closing.close()]);
    for (const turn of turns) {
      expect(turn.signal.reason).toMatchObject({ why: "closed" });
      expect((await first.inspect(turn.lcid)).holder).toBeNull();
    }
    await expect(closing.enter(lab.lane())).rejects.toMatchObject({ code: "LANE_UNAVAILABLE" });
  });

  test("an operator can free a lane, which wakes a waiter", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, requests("a", "b"));
    turnOf(await first.enter(lcid, request("a")));
    const standing = second.stand(lcid, request("b"), { signal: NEVER });
    await eventually(async () => (await first.inspect(lcid)).seats === 1);
    expect(await first.free(lcid)).toBe(true);
    expect(await serve(turnOf(await standing))).toEqual(["a", "b"]);
    expect(await first.free(lcid)).toBe(false);
  });

  test("an operator who names the holder frees its lane only, not that of whoever has come since", async () => {
    const lcid = lab.lane();
    const seen = turnOf(await first.enter(lcid));
    await seen.leave();
    const next = turnOf(await second.enter(lcid));
    expect(await first.free(lcid, { holder: seen.token })).toBe(false);
    expect((await first.inspect(lcid)).holder).toBe(next.token);
    expect(await first.free(lcid, { holder: next.token })).toBe(true);
    expect((await first.inspect(lcid)).holder).toBeNull();
  });
});

test("L11: processes that take several lanes in one order never block each other", async () => {
  const lcids = Array.from({ length: 6 }, () => lab.lane()).toSorted();
  const inTurn = async (lanes: typeof first, lcid: string): Promise<ReturnType<typeof turnOf>> =>
    eventually(async () => {
      const entry = await lanes.enter(lcid);
      return entry.kind === "turn" && entry.turn;
    });
  let rounds = 0;
  const work = async (lanes: typeof first, offset: number): Promise<void> => {
    for (let round = 0; round < 10; round += 1) {
      const chosen = lcids.filter((_, index) => (index + round + offset) % 3 !== 0);
      const turns = [];
      for (const lcid of chosen) turns.push(await inTurn(lanes, lcid));
      for (const turn of turns) await turn.leave();
      rounds += 1;
    }
  };
  await Promise.all([work(first, 0), work(second, 1), work(first, 2), work(second, 0)]);
  expect(rounds).toBe(40);
});
