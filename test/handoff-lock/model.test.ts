import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "./lab.ts";
import type { Connections } from "./lane-world.ts";
import { BATCH, CAP, requestsOf, World } from "./lane-world.ts";
import { OwnRedis } from "./own-redis.ts";
import { answerCode } from "./raw-lane.ts";
import { Resending } from "./resending.ts";

const LANE = fc.integer({ min: 0, max: 1 });
const WORKER = fc.integer({ min: 0, max: 2 });
const KEY = fc.integer({ min: 0, max: 9 });
const TWICE = fc.boolean();

/** One step of somebody. Steps that make no sense at the moment are skipped, as fast-check's commands are. */
type Step =
  | { readonly do: "queue"; readonly lane: number; readonly keys: readonly number[]; readonly twice: boolean }
  | {
      readonly do: "enter";
      readonly lane: number;
      readonly worker: number;
      readonly key: number;
      readonly twice: boolean;
    }
  | { readonly do: "maintain"; readonly lane: number; readonly worker: number; readonly twice: boolean }
  | { readonly do: "sit"; readonly lane: number; readonly worker: number; readonly key: number }
  | {
      readonly do: "handOff";
      readonly lane: number;
      /** Which of the requests in hand are settled, and which of those are the holder's own. */
      readonly settled: readonly boolean[];
      readonly own: readonly boolean[];
      readonly yieldTurn: boolean;
      readonly twice: boolean;
    }
  | { readonly do: "leave"; readonly lane: number; readonly twice: boolean }
  | { readonly do: "crash"; readonly worker: number }
  | { readonly do: "expire"; readonly lane: number }
  | { readonly do: "stale"; readonly lane: number; readonly which: number }
  | { readonly do: "stepBack"; readonly lane: number; readonly worker: number; readonly key: number }
  | { readonly do: "withdraw"; readonly lane: number; readonly key: number; readonly twice: boolean }
  | { readonly do: "flushScripts" }
  | {
      readonly do: "lose";
      readonly lane: number;
      readonly part: "wait" | "body" | "entry" | "bodyOf" | "done" | "seat";
      readonly key: number;
    };

const FLAGS = fc.array(fc.boolean(), { minLength: BATCH, maxLength: BATCH });
const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("queue" as const),
      lane: LANE,
      keys: fc.array(KEY, { minLength: 1, maxLength: 4 }),
      twice: TWICE,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("enter" as const),
      lane: LANE,
      worker: WORKER,
      key: KEY,
      twice: TWICE,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("maintain" as const), lane: LANE, worker: WORKER, twice: TWICE }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("sit" as const), lane: LANE, worker: WORKER, key: KEY }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("handOff" as const),
      lane: LANE,
      settled: FLAGS,
      own: FLAGS,
      yieldTurn: fc.boolean(),
      twice: TWICE,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), lane: LANE, twice: TWICE }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const), worker: WORKER }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("expire" as const), lane: LANE }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("stale" as const), lane: LANE, which: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("stepBack" as const), lane: LANE, worker: WORKER, key: KEY }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("withdraw" as const), lane: LANE, key: KEY, twice: TWICE }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("flushScripts" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("lose" as const),
      lane: LANE,
      part: fc.constantFrom(
        "wait" as const,
        "body" as const,
        "entry" as const,
        "bodyOf" as const,
        "done" as const,
        "seat" as const,
      ),
      key: KEY,
    }),
  },
);

async function queue(world: World, step: Step & { do: "queue" }): Promise<void> {
  const model = world.models[step.lane]!;
  const before = model.line.length;
  const requests = requestsOf(step.keys);
  const keys = requests.map(({ key }) => key);
  const expected = model.queue(keys, CAP);
  const [result] = await world.call(
    step.twice,
    () => world.worker(0).lanes.queue(model.lcid, requests),
    () => ({ kind: "absent" }),
  );
  expect(result.kind).toBe(expected);
  expect(result.depth).toBe(model.line.length);
  if (model.line.length > before) {
    expect(model.line.length, "I5: never beyond the cap").toBeLessThanOrEqual(CAP);
  }
  // Whatever was accepted gets its job; what was refused gets none.
  if (expected === "queued") for (const key of keys) world.unfinished[step.lane]!.add(key);
}

/** An `enter` of the package sends the body only when it is asked for it; sent twice, each of the two goes twice. */
async function enter(world: World, step: Step & { do: "enter" | "maintain" }): Promise<void> {
  const model = world.models[step.lane]!;
  const key = step.do === "enter" ? `r${step.key}` : "";
  const token = "the next token";
  const times = step.twice ? 2 : 1;
  if (key !== "") world.unfinished[step.lane]!.add(key);
  const [entry, expected] = await world.call(
    step.twice,
    () => world.worker(step.worker).lanes.enter(model.lcid, key === "" ? undefined : request(key)),
    () => {
      let answer = model.enter({ token, key, hasBody: false, channel: "" }, BATCH);
      if (times === 2) answer = model.enter({ token, key, hasBody: false, channel: "" }, BATCH);
      if (answer.kind !== "absent") return answer;
      answer = model.enter({ token, key, hasBody: true, channel: "" }, BATCH);
      return times === 2 ? model.enter({ token, key, hasBody: true, channel: "" }, BATCH) : answer;
    },
  );
  expect(entry.kind).toBe(expected.kind);
  if (entry.kind === "settled") {
    expect({ kind: entry.kind, value: entry.value }).toEqual(expected);
    if (!model.line.includes(key)) world.unfinished[step.lane]!.delete(key);
  }
  if (entry.kind === "waiting") expect(entry).toEqual(expected);
  if (entry.kind === "turn") {
    world.gaveTurn(step.lane, step.worker, entry.turn);
    const keys = entry.turn.requests.map(({ key: handed }) => handed);
    expect({ kind: "turn", keys }).toEqual(expected);
    expect(entry.turn.tries).toBe(model.tries);
    world.checkHandedOut(keys, await world.raw[step.lane]!.state());
  }
}

async function sit(world: World, step: Step & { do: "sit" }): Promise<void> {
  const model = world.models[step.lane]!;
  const key = `r${step.key}`;
  // A seat is for who waits: somebody holds the lane, and the request stands in it.
  if (model.lock === null || !model.line.includes(key)) return;
  const { channel } = world.worker(step.worker).listener;
  const entry = { token: "sitting", key, hasBody: false, channel };
  const expected = model.enter(entry, BATCH);
  const reply = await world.raw[step.lane]!.enter({ token: "sitting", key, channel });
  expect(answerCode(reply)).toBe(
    { settled: 0, waiting: 2, absent: 3 }[expected.kind as "settled" | "waiting" | "absent"],
  );
}

async function handOff(world: World, step: Step & { do: "handOff" }): Promise<void> {
  const held = world.turns[step.lane];
  if (held === null || held === undefined) return;
  const model = world.models[step.lane]!;
  const chosen = held.inHand.filter((_, index) => step.settled[index]);
  const own = chosen.filter((_, index) => step.own[index]);
  const others = chosen.filter((key) => !own.includes(key)).map((key) => [key, `outcome of ${key}`] as const);
  const { token } = held.turn;
  const settlements = chosen.map((key) => ({ key, value: `outcome of ${key}` }));
  const before = await world.raw[step.lane]!.state();
  const handoff = { token, own, others, yieldTurn: step.yieldTurn, batch: BATCH };
  const [answer, expected] = await world.call(
    step.twice,
    () => held.turn.handOff(settlements, { own, yieldTurn: step.yieldTurn }),
    () => {
      const first = model.handOff(handoff);
      return step.twice ? model.handOff(handoff) : first;
    },
  );
  expect(answer.kind).toBe(expected.kind);
  if (before.lock === token) for (const key of chosen) world.unfinished[step.lane]!.delete(key);
  const after = await world.raw[step.lane]!.state();
  if (before.lock === token && after.line.length > 0 && after.lock === null) {
    const woken = model.told.some(({ word }) => word[0] === "wake");
    expect(woken, "I4: a lane is let go with requests in it only if a live seat was woken").toBe(true);
  }
  if (answer.kind === "next") {
    held.inHand = answer.requests.map(({ key }) => key);
    expect({ kind: "next", keys: held.inHand }).toEqual(expected);
    world.checkHandedOut(held.inHand, after);
    return;
  }
  if (answer.kind === "lost" && before.lock !== token) {
    expect(after, "I1: a stale token changes nothing").toEqual(before);
  }
  world.staleTokens[step.lane]!.push(token);
  world.turns[step.lane] = null;
}

async function leave(world: World, step: Step & { do: "leave" }): Promise<void> {
  const held = world.turns[step.lane];
  if (held === null || held === undefined) return;
  const model = world.models[step.lane]!;
  const hadSeat = [...model.seats].some(([, channel]) => model.isLive(channel));
  const left = model.leave(held.turn.token);
  await world.call(
    step.twice,
    () => held.turn.leave(),
    () => ({ kind: "released" }),
  );
  world.staleTokens[step.lane]!.push(held.turn.token);
  world.turns[step.lane] = null;
  if (!left || !hadSeat || model.line.length === 0) return;
  expect(
    model.told.some(({ word }) => word[0] === "wake"),
    "I4: leaving wakes a live seat",
  ).toBe(true);
}

/** I1: tokens that were, and one that never was. */
async function stale(world: World, step: Step & { do: "stale" }): Promise<void> {
  const tokens = world.staleTokens[step.lane]!;
  const token = tokens[step.which % tokens.length]!;
  const [raw, model] = [world.raw[step.lane]!, world.models[step.lane]!];
  if (model.lock === token) return;
  const before = await raw.state();
  expect(await raw.renew(token, 300_000)).toBe(0);
  expect(await raw.leave(token)).toBe(0);
  const others = Object.fromEntries(model.line.map((key) => [key, "stolen"]));
  expect(answerCode(await raw.handoff({ token, others, yieldTurn: true }))).toBe(0);
  expect(await raw.state(), "I1: a stale token changes nothing").toEqual(before);
  expect(await raw.redis.pttl(raw.key("lock"))).toBeLessThanOrEqual(10_000);
}

async function stepBack(world: World, step: Step & { do: "stepBack" }): Promise<void> {
  const [raw, model] = [world.raw[step.lane]!, world.models[step.lane]!];
  const { channel } = world.worker(step.worker).listener;
  const key = `r${step.key}`;
  const expected = model.stepBack(key, channel);
  expect(answerCode(await raw.stepBack(key, channel))).toBe(expected === null ? 1 : 0);
  if (expected !== null && !model.line.includes(key)) world.unfinished[step.lane]!.delete(key);
}

async function withdraw(world: World, step: Step & { do: "withdraw" }): Promise<void> {
  const model = world.models[step.lane]!;
  const settlement = { key: `r${step.key}`, value: "withdrawn" };
  const first = model.withdraw(settlement.key, settlement.value);
  const [result] = await world.call(
    step.twice,
    () => world.worker(0).lanes.withdraw(model.lcid, settlement),
    () => ({ kind: "absent" }),
  );
  expect(result).toBe(first && !step.twice);
  if (first) world.unfinished[step.lane]!.delete(settlement.key);
}

async function lose(world: World, step: Step & { do: "lose" }): Promise<void> {
  const [lane, model] = [world.raw[step.lane]!, world.models[step.lane]!];
  const { redis } = lane;
  const key = `r${step.key}`;
  switch (step.part) {
    case "wait":
      await redis.del(lane.key("wait"));
      model.line = [];
      break;
    case "body":
      await redis.del(lane.key("body"));
      model.bodies.clear();
      break;
    case "entry":
      await redis.lrem(lane.key("wait"), 1, key);
      model.line = model.line.filter((one) => one !== key);
      break;
    case "bodyOf":
      await redis.hdel(lane.key("body"), key);
      model.bodies.delete(key);
      break;
    case "done":
      await redis.del(lane.key("done"));
      model.outcomes.clear();
      break;
    case "seat":
      break;
  }
  // Seats go as well: which of several seats without a place in line is woken is nobody's promise.
  await redis.del(lane.key("seat"));
  model.seats.clear();
}

async function expire(world: World, lane: number): Promise<void> {
  const raw = world.raw[lane]!;
  await raw.redis.del(raw.key("lock"));
  world.models[lane]!.lock = null;
}

async function take(world: World, connections: Connections, step: Step): Promise<void> {
  switch (step.do) {
    case "queue":
      return queue(world, step);
    case "enter":
    case "maintain":
      return enter(world, step);
    case "sit":
      return sit(world, step);
    case "handOff":
      return handOff(world, step);
    case "leave":
      return leave(world, step);
    case "crash":
      return world.crash(step.worker);
    case "expire":
      return expire(world, step.lane);
    case "stale":
      return stale(world, step);
    case "stepBack":
      return stepBack(world, step);
    case "withdraw":
      return withdraw(world, step);
    case "flushScripts":
      await connections.redis.script("FLUSH");
      return undefined;
    case "lose":
      return lose(world, step);
  }
}

let connections: Connections;
beforeAll(async () => {
  const own = await OwnRedis.start();
  connections = {
    redis: own.connect(),
    doubled: new Resending(own.connect()),
    subscriber: own.connect().setMaxListeners(0),
  };
});
afterAll(() => {
  connections.doubled.on = false;
});

const seed = Math.trunc(Math.random() * 2 ** 31);
test(`I1 to I5 hold whatever publishers, holders, waiters and accidents do (seed ${seed})`, async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 60, size: "max" }), async (steps) => {
      runs += 1;
      const world = await World.open(connections, `m${runs}`);
      for (const step of steps) {
        await take(world, connections, step);
        await world.compare();
      }
      await world.drain();
    }),
    { seed, numRuns: 120, plugins: [fc.interruptAfterTimeLimit(20_000)] },
  );
  expect(runs).toBeGreaterThan(10);
}, 60_000);
