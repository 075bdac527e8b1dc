import { afterAll, describe, expect, test } from "vitest";
import type { LaneKey } from "../../packages/handoff-lock/src/lane-names.ts";
import { eventually, freshRedis } from "../support/index.ts";
import { keysOf, Lab, numbered, request, serve, settle, turnOf } from "./lab.ts";
import { RawLane } from "./raw-lane.ts";

const place = freshRedis();
const lab = new Lab(place);
afterAll(() => lab.close());

/** A lane of three requests, and the raw keys behind it. */
async function prepared(): Promise<{ lcid: string; lane: RawLane }> {
  const lcid = lab.lane();
  await lab.process().queue(lcid, numbered(3));
  return { lcid, lane: new RawLane(place.connect(), { prefix: place.prefix, lcid }) };
}

const KINDS = ["string", "list", "hash", "set"] as const;
const EXPECTED: Readonly<Record<LaneKey, (typeof KINDS)[number]>> = {
  lock: "string",
  wait: "list",
  body: "hash",
  seat: "hash",
  done: "hash",
  tries: "string",
};
const ALIENS = (Object.keys(EXPECTED) as LaneKey[]).flatMap((part) =>
  KINDS.filter((kind) => kind !== EXPECTED[part]).map((kind) => [part, kind] as const),
);

async function plant({ redis }: RawLane, key: string, kind: (typeof KINDS)[number]): Promise<void> {
  await redis.del(key);
  if (kind === "string") await redis.set(key, "not what you think");
  else if (kind === "list") await redis.rpush(key, "not", "what");
  else if (kind === "hash") await redis.hset(key, "not", "what");
  else await redis.sadd(key, "not", "what");
}

describe("something that no script puts there", () => {
  test.each(ALIENS)(
    "under the lane's %s, a %s, is dropped by whoever stumbles over it, and said",
    async (part, kind) => {
      const { lcid, lane } = await prepared();
      await plant(lane, lane.key(part), kind);
      const healed: string[] = [];
      const lanes = lab.process({ onHealed: (name) => healed.push(name) });
      await lanes.queue(lcid, [request("last")]);
      const turn = turnOf(await lanes.enter(lcid, request("last")));
      // Without line or bodies the lane is lost, and what stood in it comes again with its jobs.
      const isLost = part === "wait" || part === "body";
      expect(await serve(turn)).toEqual(isLost ? ["last"] : [...keysOf(numbered(3)), "last"]);
      expect(healed).toEqual([lcid]);
      const { lock, line, bodies, seats, tries } = await lane.state();
      expect({ lock, line, bodies, seats, tries }).toEqual({
        lock: null,
        line: [],
        bodies: {},
        seats: {},
        tries: null,
      });
    },
  );

  test("as a count of vanished holders is dropped", async () => {
    const { lcid, lane } = await prepared();
    for (const count of ["many", "1.5", "-3", "99999999999999999999"]) {
      await lane.redis.set(lane.key("tries"), count);
      const turn = turnOf(await lab.process().enter(lcid));
      expect(turn.requests).toHaveLength(3);
      await turn.leave();
    }
  });

  test("as keys of requests is dropped, before a turn and within it, and the others keep their order", async () => {
    const { lcid, lane } = await prepared();
    const strays = [Buffer.from([0xff, 0xfe]), "", "a b", "a\0b", "ключ", "x".repeat(100_000)];
    const intrude = async (): Promise<void> => {
      for (const key of strays) {
        await lane.redis.multi().hset(lane.key("body"), key, "1:x").rpush(lane.key("wait"), key).exec();
      }
      await lab.process().queue(lcid, [request(`after-${await lane.redis.llen(lane.key("wait"))}`)]);
    };
    await intrude();
    const turn = turnOf(await lab.process().enter(lcid));
    expect(keysOf(turn.requests)).toEqual(["r0", "r1", "r2", "after-9"]);
    await intrude();
    const answer = await turn.handOff(settle("r0"));
    expect(answer).toMatchObject({ kind: "next" });
    expect(answer.kind === "next" && keysOf(answer.requests)).toEqual(
      ["r1", "r2", "after-9", "after-9"].slice(0, 3).concat("after-10"),
    );
    expect(await turn.handOff(settle("r1", "r2", "after-9", "after-10"))).toEqual({ kind: "released" });
    const { lock, line, bodies } = await lane.state();
    expect({ lock, line, bodies }).toEqual({ lock: null, line: [], bodies: {} });
  });

  test.each(["", "null", "{}", ":x", "99999999999999999999:x", "1e999:x", "-1:x", "12:34:x"])(
    "as a body, %j, is handed out as it is, and counts as published now",
    async (stored) => {
      const { lcid, lane } = await prepared();
      await lane.redis.hset(lane.key("body"), "r1", stored);
      const beforeMs = Date.now();
      const turn = turnOf(await lab.process().enter(lcid));
      expect(turn.requests[1]).toMatchObject({ key: "r1", body: stored });
      expect(turn.requests[1]?.publishedAtMs).toBeGreaterThanOrEqual(beforeMs);
      expect(turn.requests[1]?.publishedAtMs).toBeLessThanOrEqual(Date.now());
      await turn.leave();
    },
  );

  test("as an outcome is swept away with those nobody came for", async () => {
    const { lcid, lane } = await prepared();
    await lane.redis.hset(lane.key("done"), "x", "without a time", "y", "1:long ago");
    expect(await lab.process().sweepOutcomes(lcid, 60_000)).toBe(2);
  });

  test("as a lock that would never lapse has a lease once somebody waits for it", async () => {
    const { lcid, lane } = await prepared();
    await lane.redis.set(lane.key("lock"), "somebody");
    const lanes = lab.process({ leaseMs: 200 });
    expect(await lanes.enter(lcid)).toMatchObject({ kind: "waiting" });
    const turn = await eventually(async () => {
      const entry = await lanes.enter(lcid);
      return entry.kind === "turn" && entry.turn;
    });
    expect(turn.requests).toHaveLength(3);
    await turn.leave();
  });

  test("under a name that no lane can have is nobody's lane, and stays as it is", async () => {
    const { lcid, lane } = await prepared();
    const odd = [
      `${place.prefix}:wait:{'); DROP TABLE orders;--}`,
      `${place.prefix}:wait:{a b}`,
      `${place.prefix}:lock:{${"x".repeat(129)}}`,
    ];
    for (const key of odd) await plant(lane, key, "list");
    const seen = new Set<string>();
    for await (const page of lab.process().scan()) for (const name of page) seen.add(name);
    expect(seen).toContain(lcid);
    for (const name of seen) expect(name).toMatch(/^order-\d+$/);
    for (const key of odd) expect(await lane.redis.llen(key)).toBe(2);
  });
});
