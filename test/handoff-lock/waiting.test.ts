import { afterAll, describe, expect, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import { keysOf, Lab, NEVER, numbered, request, requests, serve, settle, turnOf } from "./lab.ts";
import { RawLane } from "./raw-lane.ts";

const fresh = freshRedis();
const redis = fresh.connect();
const lab = new Lab({ prefix: fresh.prefix, connect: () => fresh.connect() });
/** Waits for words only: whatever these processes find out, they were told. */
const LISTENING = { pollMs: 3_600_000, waitMs: 3_600_000, wordMs: 3_600_000 };
const [holder, waiter, bystander] = [lab.process(), lab.process(LISTENING), lab.process(LISTENING)];
afterAll(() => lab.close());

const seated = async (lcid: string, seats: number): Promise<unknown> =>
  eventually(async () => (await holder.inspect(lcid)).seats === seats);

describe("words", () => {
  test("a waiter is told its outcome as soon as it is settled", async () => {
    const lcid = lab.lane();
    await holder.queue(lcid, requests("a", "b", "c"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const standing = Promise.all(requests("b", "c").map((one) => waiter.stand(lcid, one, { signal: NEVER })));
    await seated(lcid, 2);
    await turn.handOff(settle("a", "b", "c"), { own: ["a"] });
    expect(await standing).toEqual([
      { kind: "settled", value: "outcome of b" },
      { kind: "settled", value: "outcome of c" },
    ]);
    expect(await holder.inspect(lcid)).toMatchObject({ outcomes: 0, seats: 0, depth: 0 });
  });

  test("an outcome that was left behind goes once its caller has delivered it, unless somebody else holds the lane", async () => {
    const lcid = lab.lane();
    await holder.queue(lcid, requests("a", "b", "c"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    await turn.handOff(settle("a", "b"), { own: ["a"] });
    expect((await holder.inspect(lcid)).outcomes).toBe(1);
    await holder.free(lcid);
    const other = turnOf(await waiter.enter(lcid));
    expect(await turn.handOff([], { delivered: ["b"] })).toEqual({ kind: "lost" });
    expect((await holder.inspect(lcid)).outcomes).toBe(1);
    await other.handOff(settle("c"), { own: ["c"], delivered: ["b", "never left"] });
    expect(await holder.inspect(lcid)).toMatchObject({ outcomes: 0, depth: 0 });
  });

  test("an outcome nobody waited for is found by the job that comes for it, once", async () => {
    const lcid = lab.lane();
    await holder.queue(lcid, requests("a", "b"));
    await serve(turnOf(await holder.enter(lcid, request("a"))));
    expect(await waiter.stand(lcid, request("b"), { signal: NEVER })).toEqual({
      kind: "settled",
      value: "outcome of b",
    });
    expect((await holder.inspect(lcid)).outcomes).toBe(1);
  });

  test("two jobs of one event in one process are both told", async () => {
    const lcid = lab.lane();
    await holder.queue(lcid, requests("a", "b"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const standing = [1, 2].map(() => waiter.stand(lcid, request("b"), { signal: NEVER }));
    await seated(lcid, 1);
    await eventually(async () => (await redis.hget(`${lab.prefix}:seat:{${lcid}}`, "b")) !== null);
    // Both must have entered: a third entry of the same process changes nothing and answers after them.
    await waiter.enter(lcid, request("b"));
    await turn.handOff(settle("a", "b"));
    expect(await Promise.all(standing)).toEqual(
      [1, 2].map(() => ({ kind: "settled", value: "outcome of b" })),
    );
  });

  test("leaving wakes the first seat in line, not the first to sit down", async () => {
    const lcid = lab.lane();
    await holder.queue(lcid, requests("a", "b", "c"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const late = bystander.stand(lcid, request("c"), { signal: NEVER });
    await seated(lcid, 1);
    const early = waiter.stand(lcid, request("b"), { signal: NEVER });
    await seated(lcid, 2);
    await turn.leave();
    const woken = turnOf(await early);
    expect(keysOf(woken.requests)).toEqual(["a", "b", "c"]);
    await serve(woken);
    expect(await late).toEqual({ kind: "settled", value: "outcome of c" });
  });

  test("a wake passes over seats that nobody hears, however many", async () => {
    const lcid = lab.lane();
    await holder.queue(lcid, numbered(600));
    const turn = turnOf(await holder.enter(lcid, request("r0")));
    const lane = new RawLane(redis, { prefix: lab.prefix, lcid });
    for (let index = 1; index < 500; index += 1) {
      await lane.enter({ token: "dead", key: `r${index}`, channel: `dead process ${index % 7}` });
    }
    const standing = waiter.stand(lcid, request("r599"), { signal: NEVER });
    await seated(lcid, 500);
    await turn.leave();
    const woken = turnOf(await standing);
    expect((await lane.state()).seats).toEqual({});
    await woken.leave();
  });

  test("a wake for a seat that was just given up reaches somebody else", async () => {
    const lcid = lab.lane();
    // The waiter's process listens by now, and nobody in it waits in this lane.
    await turnOf(await waiter.stand(lab.lane(), request("a"), { signal: NEVER })).leave();
    await holder.queue(lcid, requests("a", "b", "c"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const standing = bystander.stand(lcid, request("c"), { signal: NEVER });
    await seated(lcid, 1);
    // The seat of a wait this process has no memory of: as after a call that was answered too late.
    const channel = (await redis.pubsub("CHANNELS", `${lab.prefix}:words:*`)) as string[];
    const own = await redis.hget(`${lab.prefix}:seat:{${lcid}}`, "c");
    const other = channel.find((one) => one !== own);
    expect(other).toBeDefined();
    await redis.hset(`${lab.prefix}:seat:{${lcid}}`, "b", other!);
    await turn.leave();
    await serve(turnOf(await standing));
    expect((await holder.inspect(lcid)).seats).toBe(0);
  });

  test("a wake for an empty seat leaves the outcome to the job that comes for it", async () => {
    const lcid = lab.lane();
    await turnOf(await waiter.stand(lab.lane(), request("a"), { signal: NEVER })).leave();
    await holder.queue(lcid, requests("a", "b"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const stopping = new AbortController();
    const standing = waiter.stand(lcid, request("b"), { signal: stopping.signal });
    await seated(lcid, 1);
    const channel = (await redis.hget(`${lab.prefix}:seat:{${lcid}}`, "b"))!;
    stopping.abort();
    expect(await standing).toEqual({ kind: "cancelled" });
    await turn.handOff(settle("a", "b"), { own: ["a"] });
    // Spoken before the seat was given up, and late: it names a seat that looks taken.
    await redis.hset(`${lab.prefix}:seat:{${lcid}}`, "b", channel);
    await redis.publish(channel, JSON.stringify(["wake", lcid, "b"]));
    await seated(lcid, 0);
    expect(await bystander.enter(lcid, request("b"))).toEqual({ kind: "settled", value: "outcome of b" });
  });

  test("messages that are none of ours do no harm", async () => {
    const lcid = lab.lane();
    await holder.queue(lcid, requests("a", "b"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const standing = waiter.stand(lcid, request("b"), { signal: NEVER });
    await seated(lcid, 1);
    const channel = (await redis.hget(`${lab.prefix}:seat:{${lcid}}`, "b"))!;
    const nonsense = ["", "{", "[]", "null", '["wake"]', '["wake",1,2]', '["settled","x"]', '["?","x","y"]'];
    for (const message of nonsense) await redis.publish(channel, message);
    await redis.publish(channel, '["settled","another lane","b","wrong"]');
    await turn.handOff(settle("a", "b"));
    expect(await standing).toEqual({ kind: "settled", value: "outcome of b" });
  });
});

describe("polls stand behind every word", () => {
  test("a waiter finds a lane that became free without a word", async () => {
    const polling = lab.process({ pollMs: 20, waitMs: 30_000 });
    const lcid = lab.lane();
    turnOf(await holder.enter(lcid, request("a")));
    const standing = polling.stand(lcid, request("b"), { signal: NEVER });
    await seated(lcid, 1);
    await redis.del(`${lab.prefix}:lock:{${lcid}}`);
    expect(await serve(turnOf(await standing))).toEqual(["a", "b"]);
  });

  test("a waiter whose seat was lost finds its outcome", async () => {
    const polling = lab.process({ pollMs: 20, waitMs: 30_000 });
    const lcid = lab.lane();
    await holder.queue(lcid, requests("a", "b"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const standing = polling.stand(lcid, request("b"), { signal: NEVER });
    await seated(lcid, 1);
    await redis.del(`${lab.prefix}:seat:{${lcid}}`);
    await turn.handOff(settle("a", "b"));
    expect(await standing).toEqual({ kind: "settled", value: "outcome of b" });
  });

  test("a waiter whose outcome went astray asks for it in the end, also in a lane that is never quiet", async () => {
    const listening = lab.process({ pollMs: 3_600_000, waitMs: 3_600_000, wordMs: 1000 });
    const lcid = lab.lane();
    await holder.queue(lcid, [request("astray"), ...numbered(500)]);
    const turn = turnOf(await holder.enter(lcid));
    let found: unknown;
    const standing = listening.stand(lcid, request("astray"), { signal: NEVER }).then((end) => {
      found = end;
    });
    await seated(lcid, 1);
    await redis.del(`${lab.prefix}:seat:{${lcid}}`);
    await turn.handOff(settle("astray"));
    // Word after word about others, so that neither silence nor standing still makes anybody ask.
    const others = numbered(500).map((one) => listening.stand(lcid, one, { signal: NEVER }));
    for (const { key } of numbered(500)) {
      if (found !== undefined) break;
      await turn.handOff(settle(key));
      const untilMs = performance.now() + 20;
      await eventually(() => performance.now() >= untilMs, { everyMs: 5 });
    }
    expect(found).toEqual({ kind: "settled", value: "outcome of astray" });
    await standing;
    await turn.leave();
    await listening.close();
    await Promise.all(others);
  });

  test("a poll that crosses its outcome on the way does not put the request in line again", async () => {
    const lcid = lab.lane();
    await holder.queue(lcid, requests("a", "b"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const standing = waiter.stand(lcid, request("b"), { signal: NEVER });
    await seated(lcid, 1);
    const channel = (await redis.hget(`${lab.prefix}:seat:{${lcid}}`, "b"))!;
    // The outcome is settled and nowhere to be found: its message is under way, behind the one that makes the waiter ask.
    await redis.del(`${lab.prefix}:seat:{${lcid}}`);
    await turn.handOff(settle("a", "b"));
    await redis.del(`${lab.prefix}:done:{${lcid}}`);
    await redis.publish(channel, JSON.stringify(["wake", lcid, "b"]));
    await redis.publish(channel, JSON.stringify(["settled", lcid, "b", "on its way"]));
    expect(await standing).toEqual({ kind: "settled", value: "on its way" });
    expect((await holder.inspect(lcid)).depth).toBe(0);
  });

  test("a waiter whose lane was lost stands in line again", async () => {
    const polling = lab.process({ pollMs: 20, waitMs: 30_000 });
    const lcid = lab.lane();
    turnOf(await holder.enter(lcid, request("a")));
    const standing = polling.stand(lcid, request("b"), { signal: NEVER });
    await seated(lcid, 1);
    const keys = await redis.keys(`${lab.prefix}:*:{${lcid}}`);
    await redis.del(keys);
    expect(await serve(turnOf(await standing))).toEqual(["b"]);
  });

  test("one poll at a time asks for all waiters of a lane", async () => {
    const polling = lab.process({ pollMs: 200, waitMs: 30_000 });
    const lcid = lab.lane();
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const all = numbered(100).map((one) => polling.stand(lcid, one, { signal: NEVER }));
    await seated(lcid, 100);
    const asked: string[] = [];
    const monitor = await fresh.connect().monitor();
    monitor.on("monitor", (_time: string, args: string[], source: string) => {
      if (source !== "lua" && args.includes(`${lab.prefix}:lock:{${lcid}}`)) asked.push(args[0]!);
    });
    const watchedFromMs = performance.now();
    await eventually(() => asked.length >= 4);
    expect(performance.now() - watchedFromMs).toBeGreaterThan(400);
    monitor.disconnect();
    await turn.handOff(settle("a", ...keysOf(numbered(100))));
    expect(new Set((await Promise.all(all)).map(({ kind }) => kind))).toEqual(new Set(["settled"]));
  });
});

describe("stepping back", () => {
  test("a waiter steps back once its lane has shown no progress for waitMs, and its request keeps its place", async () => {
    const steps: string[] = [];
    const brief = lab.process({
      waitMs: 150,
      wordMs: 3_600_000,
      pollMs: 30,
      onStepBack: (lcid) => steps.push(lcid),
    });
    const lcid = lab.lane();
    await holder.queue(lcid, requests("a", "b"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const startedAtMs = performance.now();
    expect(await brief.stand(lcid, request("b"), { signal: NEVER })).toEqual({ kind: "steppedBack" });
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(150);
    expect(steps).toEqual([lcid]);
    expect(await holder.inspect(lcid)).toMatchObject({ seats: 0, depth: 2 });
    expect(await serve(turn)).toEqual(["a", "b"]);
  });

  test("a word about any other request of the lane is progress and a word", async () => {
    const brief = lab.process({ waitMs: 2500, wordMs: 2500, pollMs: 3_600_000 });
    const lcid = lab.lane();
    await holder.queue(lcid, numbered(6));
    const turn = turnOf(await holder.enter(lcid));
    const all = numbered(6).map((one) => brief.stand(lcid, one, { signal: NEVER }));
    await seated(lcid, 6);
    const startedAtMs = performance.now();
    for (const { key } of numbered(5)) {
      await turn.handOff(settle(key));
      const untilMs = performance.now() + 700;
      await eventually(() => performance.now() >= untilMs);
    }
    expect(performance.now() - startedAtMs).toBeGreaterThan(2500);
    await turn.handOff(settle("r5"));
    expect((await Promise.all(all)).map(({ kind }) => kind)).toEqual(
      Array.from({ length: 6 }, () => "settled"),
    );
  });

  test("progress that only a poll sees keeps a waiter, but not for longer than wordMs", async () => {
    const brief = lab.process({ waitMs: 1500, wordMs: 2500, pollMs: 40 });
    const lcid = lab.lane();
    await holder.queue(lcid, [...numbered(400), request("last")]);
    const turn = turnOf(await holder.enter(lcid));
    let done = false;
    const startedAtMs = performance.now();
    const standing = brief.stand(lcid, request("last"), { signal: NEVER }).finally(() => {
      done = true;
    });
    for (const { key } of numbered(400)) {
      if (done) break;
      await turn.handOff(settle(key));
      const untilMs = performance.now() + 50;
      await eventually(() => performance.now() >= untilMs, { everyMs: 5 });
    }
    expect(done, "it stepped back while its lane went on").toBe(true);
    expect(await standing).toEqual({ kind: "steppedBack" });
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(2500);
    await turn.leave();
  });

  test("an outcome that is there already is taken instead of stepping back", async () => {
    const brief = lab.process({ waitMs: 300, pollMs: 3_600_000 });
    const lcid = lab.lane();
    await holder.queue(lcid, requests("a", "b"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const standing = brief.stand(lcid, request("b"), { signal: NEVER });
    await seated(lcid, 1);
    await redis.del(`${lab.prefix}:seat:{${lcid}}`);
    await turn.handOff(settle("a", "b"));
    expect(await standing).toEqual({ kind: "settled", value: "outcome of b" });
  });
});

describe("a word that crosses with a step back", () => {
  test("is taken, so that a settled request does not stand in line once more", async () => {
    const lcid = lab.lane();
    const stopping = new AbortController();
    const subscriber = fresh.connect();
    // Heard here before the lanes hear it: the wait ends first, and the word meets a seat that is being given up.
    subscriber.on("message", () => stopping.abort());
    const tired = lab.process({ ...LISTENING, subscriber });
    await holder.queue(lcid, requests("a", "b"));
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const standing = tired.stand(lcid, request("b"), { signal: stopping.signal });
    await seated(lcid, 1);
    await turn.handOff(settle("a", "b"));
    expect(await standing).toEqual({ kind: "settled", value: "outcome of b" });
  });
});

test("L6: with every holder yielding after one batch, each of many waiters is served", async () => {
  const lcid = lab.lane();
  const processes = [holder, waiter, bystander];
  const all = numbered(90);
  await holder.queue(lcid, all);
  let turns = 0;
  const outcomes = await Promise.all(
    all.map(async (one, index) => {
      const answer = await processes[index % 3]!.stand(lcid, one, { signal: NEVER });
      if (answer.kind !== "turn") return answer.kind;
      turns += 1;
      let { requests: next } = answer.turn;
      for (;;) {
        const few = keysOf(next.slice(0, 4));
        const step = await answer.turn.handOff(settle(...few), { yieldTurn: true, own: [one.key] });
        if (step.kind === "yielded" || step.kind === "released") return "served";
        if (step.kind === "lost") return "lost";
        next = step.requests;
      }
    }),
  );
  expect(outcomes.filter((kind) => kind !== "settled" && kind !== "served")).toEqual([]);
  expect(turns).toBeGreaterThan(1);
  expect(await holder.inspect(lcid)).toMatchObject({ depth: 0, holder: null, seats: 0 });
});
