import { createLanes } from "@junban/handoff-lock";
import type { Lanes, Turn } from "@junban/handoff-lock";
import type { Redis } from "ioredis";
import { expect } from "vitest";
import { keysOf, request } from "./lab.ts";
import type { ModelAnswer } from "./lane-model.ts";
import { ModelLane } from "./lane-model.ts";
import { Listener } from "./listener.ts";
import type { LaneState } from "./raw-lane.ts";
import { RawLane } from "./raw-lane.ts";
import type { Resending } from "./resending.ts";

export const BATCH = 3;
export const CAP = 7;
const WORKERS = 3;
const LANES = 2;

export interface Connections {
  readonly redis: Redis;
  readonly doubled: Resending;
  readonly subscriber: Redis;
}

interface HeldLane {
  readonly turn: Turn;
  readonly worker: number;
  /** What was handed out and not settled yet. */
  inHand: readonly string[];
}

interface Worker {
  lanes: Lanes;
  listener: Listener;
}

/** Real lanes and their model side by side, with the publishers and workers that use them. */
export class World {
  readonly #connections: Connections;
  readonly #prefix: string;
  readonly #workers: Worker[] = [];
  readonly #live = new Set<string>();
  readonly #heard = new Map<Listener, number>();
  readonly models: ModelLane[] = [];
  readonly raw: RawLane[] = [];
  /** The turn each lane was last given, also when its lock is gone: a holder does not know. */
  readonly turns: (HeldLane | null)[] = [];
  /** Turns that lost their lane: whatever they do must change nothing. */
  readonly staleTokens: string[][] = [];
  /** Keys whose job is not done: it will come back (the second half of I4). */
  readonly unfinished: Set<string>[] = [];
  /** When each standing key joined its line: hand-outs may never go backwards. */
  readonly #joined: Map<string, number>[] = [];
  #joins = 0;
  #channels = 0;

  private constructor(connections: Connections, prefix: string) {
    this.#connections = connections;
    this.#prefix = prefix;
  }

  static async open(connections: Connections, prefix: string): Promise<World> {
    const world = new World(connections, prefix);
    for (let index = 0; index < LANES; index += 1) {
      const lcid = `lane-${index}`;
      world.models.push(new ModelLane(lcid, (channel) => world.#live.has(channel)));
      world.raw.push(new RawLane(connections.redis, { prefix, lcid, batch: BATCH, cap: CAP }));
      world.turns.push(null);
      world.staleTokens.push(["never held"]);
      world.unfinished.push(new Set());
      world.#joined.push(new Map());
    }
    for (let index = 0; index < WORKERS; index += 1) world.#workers.push(await world.#hire());
    return world;
  }

  worker(index: number): Worker {
    return this.#workers[index]!;
  }

  async #hire(): Promise<Worker> {
    const channel = `${this.#prefix}:worker-${this.#channels}`;
    this.#channels += 1;
    const { doubled, subscriber } = this.#connections;
    const lanes = createLanes({ redis: doubled.redis, prefix: this.#prefix, batch: BATCH, cap: CAP });
    this.#live.add(channel);
    return { lanes, listener: await Listener.on(subscriber, channel) };
  }

  /** The process is gone without a word: nobody hears its channel, and what it held lapses some time later. */
  async crash(index: number): Promise<void> {
    const { listener } = this.worker(index);
    await listener.die();
    this.#live.delete(listener.channel);
    for (const [lane, held] of this.turns.entries()) if (held?.worker === index) this.turns[lane] = null;
    // Its Lanes object stays: closing it would leave its turns, which a killed process does not.
    this.#workers[index] = await this.#hire();
  }

  /** Runs one call, sent twice if asked, and works out beside it what it must do. */
  async call<T>(twice: boolean, call: () => Promise<T>, model: () => ModelAnswer): Promise<[T, ModelAnswer]> {
    this.#connections.doubled.on = twice;
    try {
      const real = await call();
      return [real, model()];
    } finally {
      this.#connections.doubled.on = false;
    }
  }

  /** I3: in line order, each time from the head. */
  checkHandedOut(keys: readonly string[], state: LaneState): void {
    expect(keys, "I3: the first of the line, in its order").toEqual(state.line.slice(0, BATCH));
  }

  gaveTurn(lane: number, worker: number, turn: Turn): void {
    const lost = this.turns[lane];
    if (lost !== null && lost !== undefined) this.staleTokens[lane]!.push(lost.turn.token);
    this.turns[lane] = { turn, worker, inHand: keysOf(turn.requests) };
    this.models[lane]!.lock = turn.token;
  }

  /** Model and Redis agree about everything, and what was said was said to those it concerned. */
  async compare(): Promise<void> {
    for (const [lane, model] of this.models.entries()) {
      const state = await this.raw[lane]!.state();
      expect(state.lock, "who holds the lane").toBe(model.lock);
      expect(state.line, "I2: requests leave only settled, withdrawn or lost").toEqual(model.line);
      expect(Object.keys(state.bodies).toSorted()).toEqual([...model.bodies].toSorted());
      expect(state.seats).toEqual(Object.fromEntries(model.seats));
      expect(state.outcomes).toEqual(Object.fromEntries(model.outcomes));
      expect(Number(state.tries ?? 0)).toBe(model.tries);
      this.#checkOrder(lane, state);
      this.#checkI4(lane, state);
    }
    await this.#compareWords();
  }

  async #compareWords(): Promise<void> {
    const expected = this.models.flatMap((model) => model.told.splice(0));
    for (const { listener } of this.#workers) {
      const heard = (await listener.settled()).slice(this.#heard.get(listener) ?? 0);
      this.#heard.set(listener, listener.heard.length);
      const due = expected.filter(({ channel }) => channel === listener.channel).map(({ word }) => word);
      expect(heard.map(sortedWord).toSorted()).toEqual(due.map(sortedWord).toSorted());
    }
  }

  /**
   * I3 again, by itself: a line is in the order its requests joined, whatever left it meanwhile. A request without its body
   * is lost with its lane; should it join again, it joins at the end.
   */
  #checkOrder(lane: number, state: LaneState): void {
    const joined = this.#joined[lane]!;
    const standing = state.line.filter((key) => key in state.bodies);
    for (const key of joined.keys()) if (!standing.includes(key)) joined.delete(key);
    for (const key of standing) {
      if (joined.has(key)) continue;
      this.#joins += 1;
      joined.set(key, this.#joins);
    }
    const order = standing.map((key) => joined.get(key)!);
    expect(order, "I3: nothing overtakes").toEqual(order.toSorted((a, b) => a - b));
  }

  /** I4, its standing half: whatever stands in a free lane has a job that will come (or the sweeper finds it). */
  #checkI4(lane: number, state: LaneState): void {
    if (state.lock !== null) return;
    for (const key of state.line) expect(this.unfinished[lane]!.has(key), `I4: ${key} has a job`).toBe(true);
  }

  /** At the end whatever stands is handed out, in order, and nothing is left. */
  async drain(): Promise<void> {
    this.#connections.doubled.on = false;
    const { lanes } = this.worker(0);
    for (const raw of this.raw) {
      await raw.redis.del(raw.key("lock"));
      const entry = await lanes.enter(raw.lcid);
      if (entry.kind !== "turn") throw new Error(`a free lane answered ${entry.kind}`);
      const { line, bodies } = await raw.state();
      const served = [];
      let batch = entry.turn.requests;
      for (;;) {
        served.push(...keysOf(batch));
        const answer = await entry.turn.handOff(batch.map(({ key }) => ({ key, value: "drained" })));
        if (answer.kind !== "next") break;
        batch = answer.requests;
      }
      expect(served, "everything that stood was handed out in order").toEqual(
        line.filter((key) => key in bodies),
      );
      expect(await raw.state()).toMatchObject({ lock: null, line: [], bodies: {}, seats: {}, tries: null });
    }
    await Promise.all(this.#workers.map((worker) => worker.lanes.close()));
    for (const { listener } of this.#workers) await listener.die();
  }
}

/** The order of outcomes in one word means nothing. */
function sortedWord(word: readonly string[]): string {
  const [kind, lcid, ...rest] = word;
  const pairs = rest.map((item, index) => (index % 2 === 0 ? `${item}=${rest[index + 1] ?? ""}` : ""));
  return JSON.stringify([kind, lcid, pairs.filter((pair) => pair !== "").toSorted()]);
}

export function requestsOf(keys: readonly number[]): ReturnType<typeof request>[] {
  return keys.map((key) => request(`r${key}`));
}
