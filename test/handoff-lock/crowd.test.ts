import type { Lanes, Turn } from "@junban/handoff-lock";
import { afterAll, expect, test } from "vitest";
import { freshRedis } from "../support/index.ts";
import { keysOf, Lab, NEVER, request, settle } from "./lab.ts";

const fresh = freshRedis();
const redis = fresh.connect();
const lab = new Lab(
  { prefix: fresh.prefix, connect: () => fresh.connect() },
  { pollMs: 40, waitMs: 400, batch: 16 },
);
afterAll(() => lab.close());

/** Small and seeded, so that a failing crowd can be called together again. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = Math.trunc(Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return state / 2 ** 32;
  };
}

/** Decides each request once, in the order the turns bring them: what a store does in its transaction. */
class Store {
  readonly #decided = new Map<string, string[]>();

  decide(lcid: string, keys: readonly string[]): void {
    const decided = this.#decided.get(lcid) ?? [];
    this.#decided.set(lcid, decided);
    for (const key of keys) if (!decided.includes(key)) decided.push(key);
  }

  decidedIn(lcid: string): readonly string[] {
    return this.#decided.get(lcid) ?? [];
  }
}

interface Crowd {
  readonly store: Store;
  readonly roll: () => number;
}

/** Serves one turn the way a worker might: decide a batch, hand off, and sometimes yield, leave, or lose the lane. */
async function serve(turn: Turn, key: string, { store, roll }: Crowd): Promise<boolean> {
  let { requests } = turn;
  let settled = false;
  for (;;) {
    const some = keysOf(requests.slice(0, 1 + Math.floor(roll() * requests.length)));
    store.decide(turn.lcid, some);
    if (roll() < 0.04) await redis.del(`${lab.prefix}:lock:{${turn.lcid}}`);
    if (roll() < 0.04) {
      await turn.leave();
      return settled;
    }
    const answer = await turn.handOff(settle(...some), { yieldTurn: roll() < 0.3, own: [key] });
    if (answer.kind === "lost") return settled;
    settled ||= some.includes(key);
    if (answer.kind !== "next") return settled;
    ({ requests } = answer);
  }
}

/** One job: it comes back until its event has an outcome. Answers how often it came. */
async function work(lanes: Lanes, job: { lcid: string; key: string }, crowd: Crowd): Promise<number> {
  for (let times = 1; ; times += 1) {
    const answer = await lanes.stand(job.lcid, request(job.key), { signal: NEVER });
    if (answer.kind === "settled") return times;
    if (answer.kind === "turn" && (await serve(answer.turn, job.key, crowd))) return times;
  }
}

const seed = Math.trunc(Math.random() * 2 ** 31);
test(`many processes, lanes that change hands, holders that vanish: every request once and in order (seed ${seed})`, async () => {
  const crowd = { store: new Store(), roll: dice(seed) };
  const processes = [1, 2, 3, 4].map(() => lab.process());
  const publisher = lab.process();
  const lcids = Array.from({ length: 6 }, () => lab.lane());
  const jobs: Promise<number>[] = [];
  for (let batch = 0; batch < 40; batch += 1) {
    const entries = lcids.map((lcid) => ({
      lcid,
      requests: Array.from({ length: 8 }, (_, index) => request(`r${batch * 8 + index}`)),
    }));
    await publisher.queueMany(entries);
    // Jobs are fetched in any order, and a few of them late.
    for (const { lcid, requests } of entries.toSorted(() => crowd.roll() - 0.5)) {
      for (const { key } of requests.toSorted(() => crowd.roll() - 0.5)) {
        jobs.push(work(processes[Math.floor(crowd.roll() * 4)]!, { lcid, key }, crowd));
      }
    }
  }
  const times = await Promise.all(jobs);
  const inOrder = Array.from({ length: 320 }, (_, index) => `r${index}`);
  for (const lcid of lcids) {
    expect(crowd.store.decidedIn(lcid)).toEqual(inOrder);
    expect(await publisher.inspect(lcid)).toMatchObject({
      depth: 0,
      holder: null,
      seats: 0,
      consistent: true,
    });
  }
  expect(times).toHaveLength(1920);
}, 60_000);
