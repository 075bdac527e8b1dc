import { OutOfMemoryError } from "@junban/handoff-lock";
import type { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import type { Lab } from "./lab.ts";
import { keysOf, NEVER, numbered, request, requests, serve, settle, turnOf } from "./lab.ts";
import { OwnRedis } from "./own-redis.ts";
import { RawLane } from "./raw-lane.ts";

let own: OwnRedis;
let lab: Lab;
let redis: Redis;
beforeAll(async () => {
  own = await OwnRedis.start();
  lab = own.lab();
  redis = own.connect();
});
beforeEach(() => redis.config("SET", "maxmemory", "0"));
afterEach(() => redis.config("SET", "maxmemory", "0"));
afterAll(() => lab.close());

/** From here on every write that takes memory is refused. */
async function fill(): Promise<void> {
  await redis.config("SET", "maxmemory", "1mb");
  await expect(redis.set("more", "x")).rejects.toThrow(/OOM/);
}

test("queue refuses with a type of its own, and nothing was changed", async () => {
  const lanes = lab.process();
  const lcid = lab.lane();
  await lanes.queue(lcid, requests("a"));
  const lane = new RawLane(redis, { prefix: lab.prefix, lcid });
  const before = await lane.state();
  await fill();
  await expect(lanes.queue(lcid, requests("b"))).rejects.toBeInstanceOf(OutOfMemoryError);
  await expect(lanes.queue(lcid, requests("b"))).rejects.toMatchObject({ code: "OUT_OF_MEMORY", lcid });
  const [result] = await lanes.queueMany([{ lcid, requests: requests("b") }]);
  expect(result).toBeInstanceOf(OutOfMemoryError);
  expect(await lane.state()).toEqual(before);
});

test("a holder renews, hands off with outcomes kept, and releases", async () => {
  const lanes = lab.process({ leaseMs: 1500 });
  const lcid = lab.lane();
  await lanes.queue(lcid, numbered(300));
  const turn = turnOf(await lanes.enter(lcid, request("r0")));
  await fill();
  await eventually(() => turn.deadlineMs() - turn.startedAtMs > 2000);
  expect(turn.signal.aborted).toBe(false);
  expect(await serve(turn)).toEqual(keysOf(numbered(300)));
  expect(await lanes.inspect(lcid)).toMatchObject({ depth: 0, holder: null, outcomes: 300 });
});

test("a holder hands off without having settled anything", async () => {
  const lanes = lab.process();
  const lcid = lab.lane();
  await lanes.queue(lcid, requests("a"));
  const turn = turnOf(await lanes.enter(lcid, request("a")));
  await fill();
  expect(await turn.handOff([])).toMatchObject({ kind: "next", requests: [{ key: "a" }] });
  await turn.leave();
});

test("a holder leaves, and yields, and the waiter gets its turn", async () => {
  const [lanes, other] = [lab.process(), lab.process()];
  const lcid = lab.lane();
  await lanes.queue(lcid, requests("a", "b", "c"));
  const turn = turnOf(await lanes.enter(lcid, request("a")));
  const standing = other.stand(lcid, request("b"), { signal: NEVER });
  await eventually(async () => (await lanes.inspect(lcid)).seats === 1);
  await fill();
  expect(await turn.handOff(settle("a"), { yieldTurn: true })).toEqual({ kind: "yielded" });
  const next = turnOf(await standing);
  await next.leave();
  expect((await lanes.inspect(lcid)).holder).toBeNull();
});

test("a full Redis is worked empty: entering and withdrawing still go through", async () => {
  const lanes = lab.process();
  const lcid = lab.lane();
  await lanes.queue(lcid, requests("a", "b", "c"));
  await fill();
  expect(await lanes.withdraw(lcid, { key: "b", value: "withdrawn" })).toBe(true);
  const turn = turnOf(await lanes.enter(lcid, request("c")));
  expect(await serve(turn)).toEqual(["a", "c"]);
  expect(await lanes.enter(lcid, request("a"))).toMatchObject({ kind: "settled" });
});

test("a waiter sits down, steps back and is told while Redis is full", async () => {
  const [lanes, brief, other] = [lab.process(), lab.process({ waitMs: 300, pollMs: 50 }), lab.process()];
  const lcid = lab.lane();
  await lanes.queue(lcid, requests("a", "b", "c"));
  const turn = turnOf(await lanes.enter(lcid, request("a")));
  await fill();
  expect(await brief.stand(lcid, request("b"), { signal: NEVER })).toEqual({ kind: "steppedBack" });
  const standing = other.stand(lcid, request("c"), { signal: NEVER });
  await eventually(async () => (await lanes.inspect(lcid)).seats === 1);
  await turn.handOff(settle("a", "b", "c"));
  expect(await standing).toEqual({ kind: "settled", value: "outcome of c" });
});

test("a lane that lost half of itself is mended while Redis is full", async () => {
  const lanes = lab.process();
  const lcid = lab.lane();
  await lanes.queue(lcid, requests("a", "b", "c"));
  const turn = turnOf(await lanes.enter(lcid, request("a")));
  await redis.hdel(`${lab.prefix}:body:{${lcid}}`, "b");
  await fill();
  expect(await turn.handOff(settle("a"))).toMatchObject({ kind: "next", requests: [{ key: "c" }] });
  expect(await turn.handOff(settle("c"))).toEqual({ kind: "released" });
});
