import { afterAll, describe, expect, test } from "vitest";
import { freshRedis } from "../support/index.ts";
import { keysOf, Lab, NEVER, numbered, request, serve, turnOf } from "./lab.ts";
import { Listener } from "./listener.ts";
import { answerCode, RawLane } from "./raw-lane.ts";
import { Resending } from "./resending.ts";

const fresh = freshRedis();
const redis = fresh.connect();
const subscriber = fresh.connect().setMaxListeners(0);
const lab = new Lab({ prefix: fresh.prefix, connect: () => fresh.connect() });
afterAll(() => lab.close());

interface Branch {
  readonly name: string;
  readonly prepare: (lane: RawLane, channel: string) => Promise<unknown>;
  readonly call: (lane: RawLane, channel: string) => Promise<unknown>;
  /** The kinds of the first and of the second answer. */
  readonly answers: readonly [first: number, second: number];
  readonly messages?: number;
}

const held = async (lane: RawLane): Promise<void> => {
  await lane.queue("a", "b", "c");
  await lane.enter({ token: "holder", key: "a" });
};
const heldWithWaiter = async (lane: RawLane, channel: string): Promise<void> => {
  await held(lane);
  await lane.enter({ token: "waiter", key: "b", channel });
};
const settledB = async (lane: RawLane): Promise<void> => {
  await held(lane);
  await lane.handoff({ token: "holder", own: ["a"], others: { b: "applied" } });
};

const BRANCHES: readonly Branch[] = [
  { name: "queue: queued", prepare: held, call: (lane) => lane.queue("d", "e"), answers: [1, 1] },
  { name: "queue: repeat", prepare: held, call: (lane) => lane.queue("c", "a"), answers: [1, 1] },
  {
    name: "queue: full",
    prepare: (lane) => lane.queue(...Array.from({ length: 1000 }, (_, index) => `k${index}`)),
    call: (lane) => lane.queue("one too many"),
    answers: [0, 0],
  },
  {
    name: "enter: turn on a free lane",
    prepare: (lane) => lane.queue("a", "b"),
    call: (lane) => lane.enter({ token: "t", key: "b" }),
    answers: [1, 1],
  },
  {
    name: "enter: turn on a lane of its own",
    prepare: held,
    call: (lane) => lane.enter({ token: "holder", key: "b" }),
    answers: [1, 1],
  },
  {
    name: "enter: turn after joining the line",
    prepare: (lane) => lane.queue("a"),
    call: (lane) => lane.enter({ token: "t", key: "b", body: "b" }),
    answers: [1, 1],
  },
  {
    name: "enter: turn without a request",
    prepare: (lane) => lane.queue("a"),
    call: (lane) => lane.enter({ token: "t" }),
    answers: [1, 1],
  },
  {
    name: "enter: waiting with a seat",
    prepare: held,
    call: (lane, channel) => lane.enter({ token: "t", key: "b", channel }),
    answers: [2, 2],
  },
  {
    name: "enter: waiting without a seat",
    prepare: held,
    call: (lane) => lane.enter({ token: "t", key: "b" }),
    answers: [2, 2],
  },
  {
    name: "enter: waiting after joining the line",
    prepare: held,
    call: (lane, channel) => lane.enter({ token: "t", key: "d", body: "d", channel }),
    answers: [2, 2],
  },
  {
    name: "enter: waiting without a request",
    prepare: held,
    call: (lane) => lane.enter({ token: "t" }),
    answers: [2, 2],
  },
  {
    name: "enter: absent",
    prepare: held,
    call: (lane) => lane.enter({ token: "t", key: "d" }),
    answers: [3, 3],
  },
  // Whoever sent this joins the line again, and the repeat is recognised where it is decided.
  {
    name: "enter: settled",
    prepare: settledB,
    call: (lane) => lane.enter({ token: "t", key: "b" }),
    answers: [0, 3],
  },
  {
    name: "handoff: next, an outcome told and one left",
    prepare: heldWithWaiter,
    call: (lane) => lane.handoff({ token: "holder", own: ["a"], others: { b: "applied" } }),
    answers: [3, 3],
    messages: 1,
  },
  {
    name: "handoff: next, settled out of order",
    prepare: held,
    call: (lane) => lane.handoff({ token: "holder", others: { c: "applied" } }),
    answers: [3, 3],
  },
  {
    name: "handoff: next, nothing settled",
    prepare: held,
    call: (lane) => lane.handoff({ token: "holder" }),
    answers: [3, 3],
  },
  {
    name: "handoff: released",
    prepare: heldWithWaiter,
    call: (lane) => lane.handoff({ token: "holder", others: { a: "applied", b: "applied", c: "applied" } }),
    answers: [1, 0],
    messages: 1,
  },
  {
    name: "handoff: yielded",
    prepare: heldWithWaiter,
    call: (lane) => lane.handoff({ token: "holder", own: ["a"], yieldTurn: true }),
    answers: [2, 0],
    messages: 1,
  },
  {
    name: "handoff: asked to yield, nobody to yield to",
    prepare: held,
    call: (lane) => lane.handoff({ token: "holder", own: ["a"], yieldTurn: true }),
    answers: [3, 3],
  },
  {
    name: "handoff: lost",
    prepare: heldWithWaiter,
    call: (lane) => lane.handoff({ token: "stale", others: { a: "applied" } }),
    answers: [0, 0],
  },
  { name: "renew: renewed", prepare: held, call: (lane) => lane.renew("holder"), answers: [1, 1] },
  { name: "renew: lost", prepare: held, call: (lane) => lane.renew("stale"), answers: [0, 0] },
  {
    name: "leave: left, a waiter woken",
    prepare: heldWithWaiter,
    call: (lane) => lane.leave("holder"),
    answers: [1, 0],
    messages: 1,
  },
  {
    name: "leave: left an empty lane",
    prepare: (lane) => lane.enter({ token: "holder" }),
    call: (lane) => lane.leave("holder"),
    answers: [1, 0],
  },
  { name: "leave: lost", prepare: heldWithWaiter, call: (lane) => lane.leave("stale"), answers: [0, 0] },
  // The outcome is gone with the first answer; entering again finds that out, as above.
  {
    name: "step-back: settled",
    prepare: settledB,
    call: (lane, channel) => lane.stepBack("b", channel),
    answers: [0, 1],
  },
  {
    name: "step-back: given up",
    prepare: heldWithWaiter,
    call: (lane, channel) => lane.stepBack("b", channel),
    answers: [1, 1],
  },
  {
    name: "step-back: given up on a free lane with another waiter",
    prepare: async (lane, channel) => {
      await heldWithWaiter(lane, channel);
      await lane.enter({ token: "tired", key: "a", channel: "tired" });
      await redis.del(lane.key("lock"));
    },
    call: (lane) => lane.stepBack("a", "tired"),
    answers: [1, 1],
    messages: 1,
  },
  {
    name: "withdraw: withdrawn, the waiter told",
    prepare: heldWithWaiter,
    call: (lane) => lane.withdraw("b", "withdrawn"),
    answers: [1, 0],
    messages: 1,
  },
  {
    name: "withdraw: withdrawn, the outcome left",
    prepare: held,
    call: (lane) => lane.withdraw("b", "withdrawn"),
    answers: [1, 0],
  },
  {
    name: "withdraw: not standing",
    prepare: held,
    call: (lane) => lane.withdraw("x", "withdrawn"),
    answers: [0, 0],
  },
];

let count = 0;
async function prepared(branch: Branch): Promise<{ lane: RawLane; listener: Listener }> {
  count += 1;
  const lane = new RawLane(redis, { prefix: fresh.prefix, lcid: `twice-${count}` });
  const listener = await Listener.on(subscriber, `${fresh.prefix}:listener-${count}`);
  await branch.prepare(lane, listener.channel);
  return { lane, listener };
}

async function stateOf(lane: RawLane, listener: Listener): Promise<unknown> {
  const { seats, bodies, ...state } = await lane.state();
  // Two lanes are compared: their channels and their clocks differ, and nothing else may.
  return {
    ...state,
    seats: Object.entries(seats).map(([key, channel]) => [key, channel === listener.channel]),
    bodies: Object.entries(bodies).map(([key, stored]) => [key, stored.replace(/^\d+:/, "")]),
  };
}

test.each(BRANCHES)("$name: sent twice leaves what sent once leaves", async (branch) => {
  const [once, twice] = [await prepared(branch), await prepared(branch)];
  const answer = answerCode(await branch.call(once.lane, once.listener.channel));
  const answers = [
    answerCode(await branch.call(twice.lane, twice.listener.channel)),
    answerCode(await branch.call(twice.lane, twice.listener.channel)),
  ];
  expect([answer, ...answers]).toEqual([branch.answers[0], ...branch.answers]);
  expect(await stateOf(twice.lane, twice.listener)).toEqual(await stateOf(once.lane, once.listener));
  expect(await twice.listener.settled()).toHaveLength(branch.messages ?? 0);
});

test.each(BRANCHES.filter(({ answers }) => answers[0] !== 0 && answers[1] === 0))(
  "$name: the second cannot touch whoever holds the lane by then",
  async (branch) => {
    const { lane, listener } = await prepared(branch);
    await branch.call(lane, listener.channel);
    await lane.enter({ token: "the next holder", key: "z", body: "z" });
    const before = await lane.state();
    expect(answerCode(await branch.call(lane, listener.channel))).toBe(0);
    expect(await lane.state()).toEqual(before);
  },
);

describe("a client that sends every call twice", () => {
  test("serves its lanes in order all the same", async () => {
    const doubled = new Resending(fresh.connect());
    const [lanes, other] = [lab.process({ redis: doubled.redis, batch: 128 }), lab.process()];
    const lcid = lab.lane();
    const all = numbered(300);
    for (let index = 0; index < all.length; index += 25) {
      await lanes.queue(lcid, all.slice(index, index + 25));
    }
    const turn = turnOf(await lanes.enter(lcid, request("r0")));
    const standing = other.stand(lcid, request("r250"), { signal: NEVER });
    expect(await serve(turn)).toEqual(keysOf(all));
    expect(await standing).toEqual({ kind: "settled", value: "outcome of r250" });
    expect(doubled.resent).toBeGreaterThan(15);
  });
});
