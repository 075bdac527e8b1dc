import { LaneNameError } from "@junban/handoff-lock";
import { afterAll, describe, expect, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import { keysOf, Lab, NEVER, numbered, request, requests, serve, settle, turnOf } from "./lab.ts";

const fresh = freshRedis();
const redis = fresh.connect();
const lab = new Lab({ prefix: fresh.prefix, connect: () => fresh.connect() });
const [first, second] = [lab.process(), lab.process()];
afterAll(() => lab.close());

describe("queueing", () => {
  test("answers how deep the line is, and keeps the given order", async () => {
    const lcid = lab.lane();
    expect(await first.queue(lcid, requests("a", "b"))).toEqual({ kind: "queued", depth: 2 });
    expect(await second.queue(lcid, requests("c"))).toEqual({ kind: "queued", depth: 3 });
    const turn = turnOf(await first.enter(lcid));
    expect(turn.requests.map(({ key, body }) => ({ key, body }))).toEqual(requests("a", "b", "c"));
    await serve(turn);
  });

  test("stamps each request with the clock of Redis", async () => {
    const lcid = lab.lane();
    const [seconds] = await redis.time();
    await first.queue(lcid, requests("a"));
    const turn = turnOf(await first.enter(lcid));
    const publishedAtMs = turn.requests[0]!.publishedAtMs;
    expect(publishedAtMs).toBeGreaterThanOrEqual(Number(seconds) * 1000);
    expect(publishedAtMs).toBeLessThan(Number(seconds) * 1000 + 60_000);
    await serve(turn);
  });

  test("a repeat keeps its place and its body", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, requests("a", "b"));
    expect(await first.queue(lcid, [{ key: "a", body: "another body" }])).toEqual({
      kind: "queued",
      depth: 2,
    });
    const turn = turnOf(await first.enter(lcid));
    expect(turn.requests[0]).toMatchObject(request("a"));
    await serve(turn);
  });

  test("the same key twice in one call stands once", async () => {
    const lcid = lab.lane();
    expect(await first.queue(lcid, requests("a", "a", "b"))).toEqual({ kind: "queued", depth: 2 });
  });

  test("bodies may hold anything, and keys any syntax", async () => {
    const lcid = lab.lane();
    const odd = [
      "",
      ":",
      "1:2:3",
      "ключ",
      "\u0000",
      '"]}',
      "'); DROP TABLE orders;--",
      "{x}",
      "a b\r\nc",
      "🜁",
    ];
    const all = odd.map((body, index) => ({ key: `${index}${body.replaceAll(/[^!-~]/g, "")}`, body }));
    for (const key of ["", "a b", "a\nb", "\u0000", "ключ", "x".repeat(129)]) {
      await expect(first.queue(lcid, [{ key, body: "" }])).rejects.toThrow(/visible characters/);
    }
    await first.queue(lcid, all);
    const turn = turnOf(await first.enter(lcid));
    expect(turn.requests.map(({ key, body }) => ({ key, body }))).toEqual(all);
    const standing = second.stand(lcid, all[4]!, { signal: NEVER });
    await eventually(async () => (await first.inspect(lcid)).seats === 1);
    await turn.handOff(all.map(({ key, body }) => ({ key, value: body })));
    expect(await standing).toEqual({ kind: "settled", value: "\u0000" });
    for (const [index, one] of all.entries()) {
      if (index !== 4) expect(await first.enter(lcid, one)).toEqual({ kind: "settled", value: one.body });
    }
  });

  test("many lanes in one write answer each for itself", async () => {
    const lcids = [lab.lane(), lab.lane()];
    const small = lab.process({ cap: 2 });
    const results = await small.queueMany([
      { lcid: lcids[0]!, requests: requests("a", "b") },
      { lcid: "no {braces}", requests: requests("a") },
      { lcid: lcids[1]!, requests: requests("a", "b", "c") },
    ]);
    expect(results[0]).toEqual({ kind: "queued", depth: 2 });
    expect(results[1]).toBeInstanceOf(LaneNameError);
    expect(results[2]).toEqual({ kind: "full", depth: 0, cap: 2 });
  });

  test("many lanes in one write means one entry a lane", async () => {
    const entry = { lcid: lab.lane(), requests: requests("a") };
    await expect(first.queueMany([entry, entry])).rejects.toThrow(/one entry a lane/);
  });

  test("a thousand at once stand in their order", async () => {
    const lcid = lab.lane();
    expect(await first.queue(lcid, numbered(2500))).toEqual({ kind: "queued", depth: 2500 });
    expect(await serve(turnOf(await first.enter(lcid)))).toEqual(keysOf(numbered(2500)));
  });
});

describe("L3: who cannot have the lane stands in its line", () => {
  test("a request that is standing already keeps its place and learns it", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, requests("a", "b", "c"));
    const turn = turnOf(await first.enter(lcid, request("b")));
    expect(await second.enter(lcid, request("c"))).toEqual({ kind: "waiting", position: 2 });
    expect(await second.enter(lcid, request("a"))).toEqual({ kind: "waiting", position: 0 });
    expect(keysOf(turn.requests)).toEqual(["a", "b", "c"]);
    await serve(turn);
  });

  test("a request nobody queued joins at the end, whether the lane is free or held", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, requests("a"));
    const turn = turnOf(await first.enter(lcid, request("b")));
    expect(keysOf(turn.requests)).toEqual(["a", "b"]);
    expect(await second.enter(lcid, request("c"))).toEqual({ kind: "waiting", position: 2 });
    expect((await first.inspect(lcid)).depth).toBe(3);
    expect(await serve(turn)).toEqual(["a", "b", "c"]);
  });

  test("positions are counted up to 256", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, numbered(400));
    const turn = turnOf(await first.enter(lcid));
    expect(await second.enter(lcid, request("r255"))).toEqual({ kind: "waiting", position: 255 });
    expect(await second.enter(lcid, request("r256"))).toEqual({ kind: "waiting", position: 256 });
    expect(await second.enter(lcid, request("r399"))).toEqual({ kind: "waiting", position: 256 });
    await turn.leave();
  });

  test("the line grows by one for each request, not for each time it enters", async () => {
    const lcid = lab.lane();
    const turn = turnOf(await first.enter(lcid, request("a")));
    for (let count = 0; count < 5; count += 1) {
      await Promise.all(requests("b", "c", "d").map((one) => second.enter(lcid, one)));
    }
    expect((await first.inspect(lcid)).depth).toBe(4);
    await serve(turn);
  });
});

test("L5: requests are handed out in the order they were queued, whoever comes first and however holders end", async () => {
  const lcid = lab.lane();
  const all = numbered(400);
  for (let index = 0; index < all.length; index += 40) await first.queue(lcid, all.slice(index, index + 40));
  const handedOut: string[] = [];
  for (let turns = 0; (await first.inspect(lcid)).depth > 0; turns += 1) {
    const turn = turnOf(await (turns % 2 === 0 ? first : second).enter(lcid));
    const few = keysOf(turn.requests.slice(0, 37));
    if (turns % 3 === 0) {
      // This holder vanishes: what it had in hand goes out again.
      await redis.del(`${lab.prefix}:lock:{${lcid}}`);
      continue;
    }
    const answer = await turn.handOff(settle(...few), { yieldTurn: true, batch: 5 });
    handedOut.push(...few);
    if (answer.kind === "next") {
      expect(answer.requests.length).toBeLessThanOrEqual(5);
      await turn.leave();
    }
  }
  expect(handedOut).toEqual(keysOf(all));
});

describe("L10: the line has a cap and a lifetime", () => {
  test("over the cap nothing of the call is taken, and the refusal says what and why", async () => {
    const small = lab.process({ cap: 3 });
    const lcid = lab.lane();
    await small.queue(lcid, requests("a", "b"));
    expect(await small.queue(lcid, requests("c", "d"))).toEqual({ kind: "full", depth: 2, cap: 3 });
    expect(await small.queue(lcid, requests("c"))).toEqual({ kind: "queued", depth: 3 });
    expect(keysOf(turnOf(await small.enter(lcid)).requests)).toEqual(["a", "b", "c"]);
  });

  test("a full line refuses no repeat, and has room again once somebody was served", async () => {
    const small = lab.process({ cap: 2 });
    const lcid = lab.lane();
    await small.queue(lcid, requests("a", "b"));
    expect(await small.queue(lcid, requests("b", "a", "b"))).toEqual({ kind: "queued", depth: 2 });
    expect(await small.queue(lcid, requests("c"))).toMatchObject({ kind: "full" });
    const turn = turnOf(await small.enter(lcid));
    await turn.handOff(settle("a"));
    expect(await small.queue(lcid, requests("b", "c"))).toEqual({ kind: "queued", depth: 2 });
    expect(await serve(turn)).toEqual(expect.arrayContaining(["b", "c"]));
  });

  test("entering never refuses: the job exists already", async () => {
    const small = lab.process({ cap: 1 });
    const lcid = lab.lane();
    await small.queue(lcid, requests("a"));
    expect(keysOf(turnOf(await small.enter(lcid, request("b"))).requests)).toEqual(["a", "b"]);
  });

  test("line and bodies are touched together and expire together", async () => {
    const brief = lab.process({ laneTtlMs: 400 });
    const lcid = lab.lane();
    await brief.queue(lcid, requests("a", "b"));
    const ttls = await Promise.all(
      ["wait", "body"].map((key) => redis.pttl(`${lab.prefix}:${key}:{${lcid}}`)),
    );
    expect(Math.max(...ttls)).toBeLessThanOrEqual(400);
    await eventually(async () => (await brief.inspect(lcid)).depth === 0);
    await eventually(async () => (await redis.keys(`${lab.prefix}:*:{${lcid}}`)).length === 0);
  });

  test("every key of a lane lapses, also those of outcomes, seats and vanished holders", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, requests("a", "b", "c"));
    const turn = turnOf(await first.enter(lcid, request("a")));
    await turn.handOff(settle("a"));
    await redis.del(`${lab.prefix}:lock:{${lcid}}`);
    turnOf(await first.enter(lcid));
    const standing = second.stand(lcid, request("c"), { signal: NEVER });
    await eventually(async () => (await first.inspect(lcid)).seats === 1);
    const keys = await redis.keys(`${lab.prefix}:*:{${lcid}}`);
    expect(keys).toHaveLength(6);
    for (const key of keys) expect(await redis.pttl(key), key).toBeGreaterThan(0);
    await first.free(lcid);
    await serve(turnOf(await standing));
  });
});

describe("withdrawing", () => {
  test("drops a request, and its job finds the outcome", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, requests("a", "b"));
    expect(await first.withdraw(lcid, { key: "b", value: "withdrawn" })).toBe(true);
    expect(await first.withdraw(lcid, { key: "b", value: "withdrawn" })).toBe(false);
    expect(await second.enter(lcid, request("b"))).toEqual({ kind: "settled", value: "withdrawn" });
    expect(await serve(turnOf(await first.enter(lcid)))).toEqual(["a"]);
  });

  test("tells the waiter at once", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, requests("a", "b"));
    const turn = turnOf(await first.enter(lcid));
    const standing = second.stand(lcid, request("b"), { signal: NEVER });
    await eventually(async () => (await first.inspect(lcid)).seats === 1);
    await first.withdraw(lcid, { key: "b", value: "withdrawn" });
    expect(await standing).toEqual({ kind: "settled", value: "withdrawn" });
    // The holder has it in hand still; handing off what is gone is harmless.
    expect(await turn.handOff(settle("a", "b"))).toEqual({ kind: "released" });
    expect((await first.inspect(lcid)).outcomes).toBe(1);
  });
});

describe("looking after lanes", () => {
  test("scan finds every lane once, whatever is left of it and however many other keys there are, and nothing else", async () => {
    const corner = `${lab.prefix}:corner`;
    const own = new Lab({ prefix: corner, connect: () => fresh.connect() });
    const lanes = own.process();
    // Several keys each, so that those of one lane come on different pages.
    const lcids = Array.from({ length: 1_000 }, () => own.lane());
    await lanes.queueMany(lcids.map((lcid) => ({ lcid, requests: requests("a") })));
    await redis.mset(
      `${corner}:{payment}:wait`,
      "x",
      `${corner}:other:{y}`,
      "x",
      `${corner}:done:{held}`,
      "x",
    );
    const found: string[] = [];
    for await (const page of lanes.scan()) found.push(...page);
    expect(found.toSorted()).toEqual(["held", ...lcids].toSorted());
    await own.close();
  });

  test("sweeping deletes only outcomes older than asked", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, numbered(600));
    await serve(turnOf(await first.enter(lcid)));
    expect((await first.inspect(lcid)).outcomes).toBe(600);
    expect(await first.sweepOutcomes(lcid, 60_000)).toBe(0);
    expect(await first.sweepOutcomes(lcid, 0)).toBe(600);
    expect((await first.inspect(lcid)).outcomes).toBe(0);
    expect(await first.sweepOutcomes(lab.lane(), 0)).toBe(0);
  });

  test("a report says what there is", async () => {
    const lcid = lab.lane();
    const empty = { lcid, depth: 0, holder: null, leaseLeftMs: 0, seats: 0, outcomes: 0, tries: 0 };
    expect(await first.inspect(lcid)).toEqual({ ...empty, headKey: null, consistent: true });
    await first.queue(lcid, requests("a", "b", "c"));
    const turn = turnOf(await first.enter(lcid));
    await turn.handOff(settle("a"));
    const report = await second.inspect(lcid);
    expect(report).toMatchObject({
      depth: 2,
      holder: turn.token,
      outcomes: 1,
      headKey: "b",
      consistent: true,
    });
    expect(report.leaseLeftMs).toBeGreaterThan(0);
    await redis.hdel(`${lab.prefix}:body:{${lcid}}`, "b");
    expect(await first.inspect(lcid)).toMatchObject({ consistent: false });
    await turn.leave();
  });

  test("a view shows a page of the line, who sits where, and outcomes nobody came for, and changes nothing", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, numbered(5));
    const turn = turnOf(await first.enter(lcid));
    await turn.handOff(settle("r0"));
    const standing = second.stand(lcid, request("r2"), { signal: AbortSignal.timeout(60_000) });
    await eventually(async () => (await first.inspect(lcid)).seats === 1);
    await redis.hdel(`${lab.prefix}:body:{${lcid}}`, "r3");

    const view = await second.show(lcid, { skip: 1, limit: 2 });
    expect(view).toMatchObject({ depth: 4, holder: turn.token, headKey: "r1", consistent: false });
    expect(view.line).toEqual([
      { ...request("r2"), publishedAtMs: turn.requests[0]?.publishedAtMs, seated: true },
      { key: "r3", body: null, publishedAtMs: null, seated: false },
    ]);
    expect(view.leftOutcomes).toMatchObject([{ key: "r0", value: "outcome of r0" }]);
    expect(view.leftOutcomes[0]?.leftAtMs).toBeGreaterThan(1_700_000_000_000);
    expect((await second.show(lcid, { skip: 4, limit: 2 })).line).toEqual([]);
    await turn.leave();
    await serve(turnOf(await standing));
  });

  test("a view shows no more outcomes than were asked for, however many lie there", async () => {
    const lcid = lab.lane();
    await first.queue(lcid, numbered(40));
    await serve(turnOf(await first.enter(lcid)));
    const view = await first.show(lcid, { limit: 3 });
    expect(view.outcomes).toBe(40);
    expect(view.leftOutcomes).toHaveLength(3);
  });
});

test.each([
  ["braces", "a{b}"],
  ["a space", "a b"],
  ["nothing", ""],
  ["too many characters", "x".repeat(129)],
  ["a line end", "a\n"],
  ["letters outside ASCII", "é"],
  ["NUL", "a\u0000"],
])("a lane name of %s is refused at the door", async (_, lcid) => {
  await expect(first.queue(lcid, requests("a"))).rejects.toBeInstanceOf(LaneNameError);
  await expect(first.enter(lcid)).rejects.toMatchObject({ code: "LANE_NAME", lcid });
  await expect(first.stand(lcid, request("a"), { signal: NEVER })).rejects.toBeInstanceOf(LaneNameError);
});

test("names with every allowed character are lanes of their own", async () => {
  const names = ["ord1", "ORD1", "a:b", "a:b:c", "123", "0-9A.Z_:@/+=~", "x".repeat(128)];
  await first.queueMany(names.map((lcid) => ({ lcid, requests: requests(lcid.slice(0, 100)) })));
  for (const lcid of names) {
    expect(await serve(turnOf(await first.enter(lcid)))).toEqual([lcid.slice(0, 100)]);
  }
});
