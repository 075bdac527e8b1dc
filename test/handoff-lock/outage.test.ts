import { createLanes, LaneUnavailableError } from "@junban/handoff-lock";
import { startProxy } from "@junban/sandbox";
import type { TcpProxy } from "@junban/sandbox";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import type { Lab } from "./lab.ts";
import { keysOf, NEVER, numbered, request, requests, serve, settle, turnOf } from "./lab.ts";
import { OwnRedis } from "./own-redis.ts";

let own: OwnRedis;
let proxy: TcpProxy;
let lab: Lab;
beforeAll(async () => {
  own = await OwnRedis.start();
  proxy = await startProxy({ url: own.server.url });
  lab = own.lab();
});
beforeEach(() => {
  proxy.heal();
  proxy.delayMs(0);
});
afterAll(async () => {
  await lab.close();
  await proxy.close();
});

const viaProxy = (): ReturnType<OwnRedis["connect"]> => own.connect({}, proxy.url);

describe("when Redis does not answer", () => {
  test("every call ends within its limit, as LaneUnavailableError that names the step", async () => {
    const lanes = lab.process({ redis: viaProxy(), commandTimeoutMs: 800 });
    const lcid = lab.lane();
    await lanes.queue(lcid, requests("a"));
    const turn = turnOf(await lanes.enter(lcid, request("a")));
    proxy.drop();
    const startedAtMs = performance.now();
    const calls = {
      queue: lanes.queue(lcid, requests("b")),
      enter: lanes.enter(lcid, request("b")),
      withdraw: lanes.withdraw(lcid, settle("b")[0]!),
      inspect: lanes.inspect(lcid),
      handoff: turn.handOff(settle("a")),
    };
    for (const [command, call] of Object.entries(calls)) {
      const error: unknown = await call.then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(LaneUnavailableError);
      expect(error).toMatchObject({ code: "LANE_UNAVAILABLE", command });
    }
    await turn.leave();
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
  });

  test("a turn ends at its deadline, counted from before the last renewal that succeeded", async () => {
    const lost: string[] = [];
    const lanes = lab.process({ redis: viaProxy(), leaseMs: 1500, onLeaseLost: (_, why) => lost.push(why) });
    const turn = turnOf(await lanes.enter(lab.lane()));
    await eventually(() => turn.deadlineMs() - turn.startedAtMs > 1600);
    proxy.drop();
    // A renewal may have been under way when the line went dead, so the deadline is read once nothing can move it.
    await eventually(() => turn.signal.aborted);
    expect(performance.now()).toBeGreaterThanOrEqual(turn.deadlineMs());
    expect(turn.signal.reason).toMatchObject({ code: "LEASE_LOST", why: "deadline" });
    expect(lost).toEqual(["deadline"]);
  });

  test("the deadline counts from before each successful step was sent, not from its answer", async () => {
    const lanes = lab.process({ redis: viaProxy(), leaseMs: 9000 });
    const lcid = lab.lane();
    await lanes.inspect(lcid);
    proxy.delayMs(400);
    const turn = turnOf(await lanes.enter(lcid, request("a")));
    expect(turn.deadlineMs() - performance.now()).toBeLessThanOrEqual(9000 - 700);
    const first = turn.deadlineMs();
    expect(await turn.handOff([])).toMatchObject({ kind: "next" });
    expect(turn.deadlineMs()).toBeGreaterThan(first);
    expect(turn.deadlineMs() - performance.now()).toBeLessThanOrEqual(9000 - 700);
    const second = turn.deadlineMs();
    await eventually(() => turn.deadlineMs() > second, { everyMs: 1 });
    expect(turn.deadlineMs() - performance.now()).toBeLessThanOrEqual(9000 - 700);
    proxy.delayMs(0);
    await turn.leave();
  });

  test("a lane taken by an answer that came too late is given back", async () => {
    const lanes = lab.process({ redis: viaProxy(), leaseMs: 300_000, commandTimeoutMs: 800 });
    const watcher = lab.process();
    const lcid = lab.lane();
    await watcher.queue(lcid, requests("a"));
    await lanes.inspect(lcid);
    proxy.delayMs(1600);
    await expect(lanes.enter(lcid, request("a"))).rejects.toBeInstanceOf(LaneUnavailableError);
    await eventually(async () => (await watcher.inspect(lcid)).holder !== null);
    proxy.delayMs(0);
    await eventually(async () => (await watcher.inspect(lcid)).holder === null);
    expect(await serve(turnOf(await watcher.enter(lcid, request("a"))))).toEqual(["a"]);
  });

  test("closing is bounded", async () => {
    const lanes = createLanes({ redis: viaProxy(), prefix: lab.prefix, commandTimeoutMs: 800 });
    turnOf(await lanes.enter(lab.lane()));
    const standing = lanes.stand(lab.lane(), request("a"), { signal: NEVER });
    await standing;
    proxy.drop();
    const startedAtMs = performance.now();
    await lanes.close();
    expect(performance.now() - startedAtMs).toBeLessThan(5000);
  });

  test("a wait that is cancelled meanwhile ends as cancelled", async () => {
    const lanes = lab.process({ redis: viaProxy(), commandTimeoutMs: 800, pollMs: 30 });
    const holder = lab.process();
    const lcid = lab.lane();
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const stopping = new AbortController();
    const standing = lanes.stand(lcid, request("b"), { signal: stopping.signal });
    await eventually(async () => (await holder.inspect(lcid)).seats === 1);
    proxy.drop();
    stopping.abort();
    expect(await standing).toEqual({ kind: "cancelled" });
    await turn.leave();
  });
});

describe("when the connection is gone", () => {
  test("a call made meanwhile waits for the next connection, within its limit", async () => {
    const lanes = lab.process({ redis: viaProxy(), commandTimeoutMs: 5000 });
    const lcid = lab.lane();
    await lanes.queue(lcid, requests("a"));
    proxy.cut();
    await eventually(() => proxy.connections() === 0);
    const queued = lanes.queue(lcid, requests("b"));
    proxy.heal();
    expect(await queued).toEqual({ kind: "queued", depth: 2 });
  });

  test("a call given up while Redis was away is never sent afterwards", async () => {
    const redis = viaProxy();
    const lanes = lab.process({ redis, commandTimeoutMs: 800 });
    const watcher = lab.process();
    const lcid = lab.lane();
    await lanes.inspect(lcid);
    proxy.cut();
    await eventually(() => redis.status !== "ready");
    await expect(lanes.queue(lcid, requests("a"))).rejects.toMatchObject({ command: "queue" });
    proxy.heal();
    await eventually(async () => (await lanes.inspect(lab.lane())).depth === 0);
    expect((await watcher.inspect(lcid)).depth).toBe(0);
  });

  test("a client that was ended refuses at once", async () => {
    const redis = viaProxy();
    const lanes = lab.process({ redis });
    await lanes.inspect(lab.lane());
    redis.disconnect();
    await eventually(() => redis.status === "end");
    await expect(lanes.queue(lab.lane(), requests("a"))).rejects.toBeInstanceOf(LaneUnavailableError);
  });

  test("a client that connects lazily is connected by the first call", async () => {
    const redis = own.connect({ lazyConnect: true });
    const lanes = lab.process({ redis });
    expect(await lanes.queue(lab.lane(), requests("a"))).toEqual({ kind: "queued", depth: 1 });
  });

  test("answers lost on the way are asked for again by the client, and nothing happens twice", async () => {
    const lanes = lab.process({ redis: viaProxy(), commandTimeoutMs: 5000, leaseMs: 10_000 });
    const lcid = lab.lane();
    const all = numbered(200);
    const handedOut: string[] = [];
    await lanes.queue(lcid, all);
    const loseAnswers = async <T>(call: () => Promise<T>): Promise<T> => {
      proxy.drop("toClient");
      const answer = call();
      // Long enough for the call to arrive and to be carried out; its answer is lost with the connection.
      const untilMs = performance.now() + 60;
      await eventually(() => performance.now() >= untilMs);
      proxy.heal();
      return answer;
    };
    const turn = turnOf(await loseAnswers(() => lanes.enter(lcid, request("r0"))));
    expect(turn.tries).toBe(1);
    let { requests: next } = turn;
    for (;;) {
      const keys = keysOf(next.slice(0, 40));
      handedOut.push(...keys);
      const answer = await loseAnswers(() => turn.handOff(settle(...keys)));
      // The one that released the lane was answered; asked again, it finds its token gone.
      if (answer.kind !== "next") {
        expect(answer.kind).toBe("lost");
        break;
      }
      next = answer.requests;
    }
    expect(handedOut).toEqual(keysOf(all));
    expect(await lanes.inspect(lcid)).toMatchObject({ depth: 0, holder: null, outcomes: 200 });
  });
});

test("waiters ask at once when their subscription is back, for what was said meanwhile", async () => {
  // No poll would help here within this test; and the subscription is away for a while.
  const patient = { pollMs: 3_600_000, waitMs: 3_600_000, wordMs: 3_600_000 };
  const lanes = lab.process({ redis: own.connect({ retryStrategy: () => 500 }), ...patient });
  const holder = lab.process();
  const lcid = lab.lane();
  await holder.queue(lcid, requests("a", "b", "c"));
  const turn = turnOf(await holder.enter(lcid, request("a")));
  const standing = ["b", "c"].map((key) => lanes.stand(lcid, request(key), { signal: NEVER }));
  await eventually(async () => (await holder.inspect(lcid)).seats === 2);
  await own.connect().call("CLIENT", "KILL", "TYPE", "pubsub");
  await turn.handOff(settle("a", "b", "c"));
  expect(await Promise.all(standing)).toEqual([
    { kind: "settled", value: "outcome of b" },
    { kind: "settled", value: "outcome of c" },
  ]);
});

test("a subscription that ends while it is being taken up again leaves nothing unhandled", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  const lanes = lab.process({ redis: viaProxy(), waitMs: 3_600_000, wordMs: 3_600_000 });
  const holder = lab.process();
  const lcid = lab.lane();
  const turn = turnOf(await holder.enter(lcid, request("a")));
  const standing = lanes.stand(lcid, request("b"), { signal: NEVER });
  await eventually(async () => (await holder.inspect(lcid)).seats === 1);
  // The next connection gets as far as asking for the subscription, and no further.
  let asked = false;
  proxy.onData((direction, chunk) => {
    if (direction !== "toServer" || !/subscribe/i.test(chunk.toString())) return "pass";
    asked = true;
    return "drop";
  });
  proxy.reset();
  await eventually(() => asked);
  await lanes.close();
  expect(await standing).toEqual({ kind: "cancelled" });
  proxy.onData(undefined);
  await turn.leave();
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

test("waiters carry on through a restart of Redis that keeps nothing", async () => {
  const lanes = lab.process({ pollMs: 50, waitMs: 60_000, commandTimeoutMs: 10_000 });
  const holder = lab.process();
  const lcid = lab.lane();
  turnOf(await holder.enter(lcid, request("a")));
  const standing = lanes.stand(lcid, request("b"), { signal: NEVER });
  await eventually(async () => (await holder.inspect(lcid)).seats === 1);
  await own.server.restart();
  expect(keysOf(turnOf(await standing).requests)).toEqual(["b"]);
});
