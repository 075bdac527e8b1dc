import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Lab } from "./lab.ts";
import { keysOf, NEVER, numbered, request, requests, serve, settle, turnOf } from "./lab.ts";
import { OwnRedis } from "./own-redis.ts";
import { RawLane } from "./raw-lane.ts";

let own: OwnRedis;
let lab: Lab;
beforeAll(async () => {
  own = await OwnRedis.start();
  lab = own.lab();
});
afterAll(() => lab.close());

async function prepared(count = 6): Promise<{ lcid: string; lane: RawLane }> {
  const lcid = lab.lane();
  await lab.process().queue(lcid, numbered(count));
  return { lcid, lane: new RawLane(own.connect(), { prefix: lab.prefix, lcid }) };
}

describe("a lane that lost a part of itself", () => {
  test("drops entries without a body and bodies without an entry, and keeps the order of the rest", async () => {
    const { lcid, lane } = await prepared(2500);
    await lane.redis.hdel(
      lane.key("body"),
      ...numbered(2500)
        .filter((_, index) => index % 3 === 0)
        .map(({ key }) => key),
    );
    await lane.redis.ltrim(lane.key("wait"), 0, 1999);
    const served = await serve(turnOf(await lab.process().enter(lcid)));
    expect(served).toEqual(keysOf(numbered(2000).filter((_, index) => index % 3 !== 0)));
    const { line, bodies } = await lane.state();
    expect({ line, bodies }).toEqual({ line: [], bodies: {} });
  });

  test("loses nothing whose job comes again: it stands at the end, with its body", async () => {
    const { lcid, lane } = await prepared(3);
    await lane.redis.hdel(lane.key("body"), "r0");
    const lanes = lab.process();
    const turn = turnOf(await lanes.stand(lcid, request("r0"), { signal: NEVER }));
    expect(turn.requests.map(({ key, body }) => ({ key, body }))).toEqual(requests("r1", "r2", "r0"));
    expect(await serve(turn)).toEqual(["r1", "r2", "r0"]);
  });

  test("that lost its whole line counts as empty, and its holder is released", async () => {
    const { lcid, lane } = await prepared();
    const turn = turnOf(await lab.process().enter(lcid));
    await lane.redis.del(lane.key("wait"));
    expect(await turn.handOff(settle("r0"))).toEqual({ kind: "released" });
    const { lock, line, bodies } = await lane.state();
    expect({ lock, line, bodies }).toEqual({ lock: null, line: [], bodies: {} });
  });

  test("that lost its bodies at equal length releases its holder too", async () => {
    const { lcid, lane } = await prepared(1);
    const turn = turnOf(await lab.process().enter(lcid));
    await lane.redis.multi().hdel(lane.key("body"), "r0").hset(lane.key("body"), "x", "1:x").exec();
    expect(await turn.handOff([])).toEqual({ kind: "released" });
    const { lock, line, bodies } = await lane.state();
    expect({ lock, line, bodies }).toEqual({ lock: null, line: [], bodies: {} });
  });

  test("keeps its lifetime when its line is put together again", async () => {
    const { lcid, lane } = await prepared();
    await lane.redis.hdel(lane.key("body"), "r0");
    await lab.process({ laneTtlMs: 50_000 }).queue(lcid, []);
    for (const key of ["wait", "body"] as const) {
      expect(await lane.redis.pttl(lane.key(key))).toBeGreaterThan(40_000);
      expect(await lane.redis.pttl(lane.key(key))).toBeLessThanOrEqual(50_000);
    }
  });

  test("that holds a request twice hands it out once", async () => {
    const { lcid, lane } = await prepared(2);
    await lane.redis.rpush(lane.key("wait"), "r0");
    expect(await serve(turnOf(await lab.process().enter(lcid)))).toEqual(["r0", "r1"]);
  });

  test("that lost one entry and another one's body hands out once what came back", async () => {
    const { lcid, lane } = await prepared(3);
    await lane.redis.hdel(lane.key("body"), "r0");
    await lane.redis.lrem(lane.key("wait"), 1, "r1");
    await lab.process().queue(lcid, requests("r0"));
    expect((await lane.state()).line).toEqual(["r0", "r2", "r0"]);
    expect(keysOf(turnOf(await lab.process().enter(lcid)).requests)).toEqual(["r0", "r2"]);
  });

  test("that holds a settled request twice loses sight of no other one that is settled with it", async () => {
    const { lcid, lane } = await prepared(3);
    const turn = turnOf(await lab.process({ batch: 1 }).enter(lcid));
    await lane.redis.hdel(lane.key("body"), "r1");
    await lane.redis.linsert(lane.key("wait"), "AFTER", "r0", "r0");
    await lane.redis.lrem(lane.key("wait"), 1, "r1");
    expect((await lane.state()).line).toEqual(["r0", "r0", "r2"]);
    await lane.redis.hset(lane.key("body"), "x", "1:x");
    expect(await turn.handOff(settle("r0", "r2"))).toEqual({ kind: "released" });
  });
});

test("scripts touch no key they do not name", async () => {
  const monitor = await own.connect().monitor();
  const touched: string[] = [];
  let named: readonly string[] = [];
  monitor.on("monitor", (_time: string, args: readonly string[], source: string) => {
    const [command = "", first = ""] = args;
    if (/^eval(sha)?$/i.test(command)) named = args.slice(3, 3 + Number(args[2]));
    else if (source === "lua" && !/^(publish|time)$/i.test(command)) {
      const keys = /^del$/i.test(command) ? args.slice(1) : [first];
      touched.push(...keys.map((key) => (named.includes(key) ? "named" : `${command} ${key}`)));
    }
  });
  const { lcid, lane } = await prepared();
  const [lanes, other] = [lab.process(), lab.process()];
  const turn = turnOf(await lanes.enter(lcid, request("r0")));
  const stopping = new AbortController();
  const standing = other.stand(lcid, request("r5"), { signal: stopping.signal });
  await other.stand(lcid, request("r4"), { signal: AbortSignal.timeout(100) });
  await turn.handOff(settle("r0", "r2"));
  await lanes.withdraw(lcid, settle("r3")[0]!);
  await turn.handOff([], { yieldTurn: true });
  await lane.redis.hdel(lane.key("body"), "r4");
  const next = turnOf(await standing);
  await lanes.inspect(lcid);
  await lanes.sweepOutcomes(lcid, 0);
  await next.leave();
  monitor.disconnect();
  expect(new Set(touched)).toEqual(new Set(["named"]));
  expect(touched.length).toBeGreaterThan(60);
});
