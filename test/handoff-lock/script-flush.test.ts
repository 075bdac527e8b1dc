import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Lab } from "./lab.ts";
import { keysOf, NEVER, numbered, request, requests, serve, settle, turnOf } from "./lab.ts";
import { OwnRedis } from "./own-redis.ts";

let own: OwnRedis;
let lab: Lab;
beforeAll(async () => {
  own = await OwnRedis.start();
  lab = own.lab();
});
afterAll(() => lab.close());

/** Answers how many times. */
async function flushUntil(enough: AbortSignal): Promise<number> {
  const redis = own.connect();
  let flushes = 0;
  for (; !enough.aborted; flushes += 1) await redis.script("FLUSH");
  return flushes;
}

describe("after SCRIPT FLUSH", () => {
  test("every kind of call heals itself", async () => {
    const lanes = lab.process();
    const flush = own.connect();
    const lcid = lab.lane();
    await flush.script("FLUSH");
    await lanes.queue(lcid, requests("a", "b", "c", "d"));
    await flush.script("FLUSH");
    const turn = turnOf(await lanes.enter(lcid, request("a")));
    await flush.script("FLUSH");
    expect(await turn.handOff(settle("a", "b"))).toMatchObject({ kind: "next" });
    await flush.script("FLUSH");
    expect(await lanes.inspect(lcid)).toMatchObject({ depth: 2, outcomes: 2 });
    await flush.script("FLUSH");
    expect(await lanes.withdraw(lcid, { key: "d", value: "withdrawn" })).toBe(true);
    await flush.script("FLUSH");
    expect(await lanes.sweepOutcomes(lcid, 0)).toBe(3);
    await flush.script("FLUSH");
    await turn.leave();
    expect((await lanes.inspect(lcid)).holder).toBeNull();
  });

  test("a waiter steps back, and a turn is renewed", async () => {
    const lanes = lab.process({ leaseMs: 1500, waitMs: 2500, pollMs: 300 });
    const lcid = lab.lane();
    const turn = turnOf(await lanes.enter(lcid, request("a")));
    const standing = lanes.stand(lcid, request("b"), { signal: NEVER });
    const enough = new AbortController();
    const flushing = flushUntil(enough.signal);
    expect(await standing).toEqual({ kind: "steppedBack" });
    enough.abort();
    await flushing;
    expect(turn.signal.aborted).toBe(false);
    expect(turn.deadlineMs() - turn.startedAtMs).toBeGreaterThan(2000);
    await turn.leave();
  });
});

describe("SCRIPT FLUSH inside a pipeline", () => {
  test("each call of one write heals by itself, and none happens twice or out of order", async () => {
    const redis = own.connect();
    const lanes = lab.process({ redis });
    const lcids = Array.from({ length: 300 }, () => lab.lane());
    // The flushes travel in the same write as the calls, between them.
    const results = lcids.map(async (lcid, index) => {
      if (index % 50 === 25) void redis.script("FLUSH");
      return lanes.queue(lcid, requests("a", "b"));
    });
    expect(new Set((await Promise.all(results)).map((result) => JSON.stringify(result)))).toEqual(
      new Set(['{"kind":"queued","depth":2}']),
    );
    const turns = await Promise.all(
      lcids.map(async (lcid, index) => {
        if (index % 50 === 25) void redis.script("FLUSH");
        return turnOf(await lanes.enter(lcid, request("a")));
      }),
    );
    const served = await Promise.all(
      turns.map((turn, index) => {
        if (index % 50 === 25) void redis.script("FLUSH");
        return serve(turn);
      }),
    );
    for (const keys of served) expect(keys).toEqual(["a", "b"]);
  });

  test("queueMany answers for every lane", async () => {
    const redis = own.connect();
    const lanes = lab.process({ redis });
    const entries = Array.from({ length: 100 }, () => ({ lcid: lab.lane(), requests: numbered(3) }));
    const results = lanes.queueMany(entries);
    void redis.script("FLUSH");
    const again = lanes.queueMany(entries);
    for (const result of [...(await results), ...(await again)]) {
      expect(result).toEqual({ kind: "queued", depth: 3 });
    }
    const turn = turnOf(await lanes.enter(entries[0]!.lcid));
    expect(keysOf(turn.requests)).toEqual(keysOf(numbered(3)));
    await turn.leave();
  });
});

test("works on while scripts are flushed all the time", async () => {
  const processes = [lab.process({ pollMs: 50, batch: 128 }), lab.process({ pollMs: 50, batch: 128 })];
  const lcid = lab.lane();
  const all = numbered(400);
  const enough = new AbortController();
  const flushing = flushUntil(enough.signal);
  for (let index = 0; index < all.length; index += 20) {
    await processes[0]!.queue(lcid, all.slice(index, index + 20));
  }
  const served: string[] = [];
  const outcomes = await Promise.all(
    all.slice(0, 60).map(async (one, index) => {
      const answer = await processes[index % 2]!.stand(lcid, one, { signal: NEVER });
      if (answer.kind === "turn") served.push(...(await serve(answer.turn)));
      return answer.kind;
    }),
  );
  enough.abort();
  expect(await flushing).toBeGreaterThan(10);
  expect(outcomes).not.toContain("steppedBack");
  expect(served).toEqual(keysOf(all));
});
