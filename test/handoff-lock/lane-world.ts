import { createLanes } from "@junban/handoff-lock";
import type { Handoff, HandOffOptions, Lanes, Settlement } from "@junban/handoff-lock";
import type { Redis } from "ioredis";
import { KEYS_OF } from "../../packages/handoff-lock/src/script-texts.ts";
import { same } from "../support/same.ts";
import type { Done } from "./lane-deeds.ts";
import { ModelLane } from "./lane-model.ts";
import { BATCH, CAP, LANES, WORKERS } from "./lane-steps.ts";
import type { Snapshot } from "./lane-witness.ts";
import { LaneWitness } from "./lane-witness.ts";
import { Listener } from "./listener.ts";
import { RawLane } from "./raw-lane.ts";
import type { Resending } from "./resending.ts";

/** Far longer than any run, so that no lease lapses and no timer renews one but by a step. */
const LEASE_MS = 300_000;
const TTL_MS = 604_800_000;

export interface Connections {
  readonly redis: Redis;
  readonly doubled: Resending;
  readonly subscriber: Redis;
}

/** A turn as a step uses it, of the package or driven script by script. */
export interface WorldTurn {
  readonly token: string;
  handOff(settlements: readonly Settlement[], options: HandOffOptions): Promise<Handoff>;
  leave(): Promise<void>;
}

export interface HeldLane {
  readonly turn: WorldTurn;
  readonly worker: number;
  /** What was handed out and not settled yet. */
  inHand: readonly string[];
}

/** A job that stands at a lane. It has one token for its whole wait. */
export interface Wait {
  readonly lane: number;
  readonly worker: number;
  readonly key: string;
  readonly token: string;
}

interface Worker {
  readonly lanes: Lanes;
  readonly listener: Listener;
}

/** One lane and everybody's idea of it. */
export class LanePlace {
  readonly model: ModelLane;
  readonly raw: RawLane;
  readonly witness: LaneWitness;
  /** The turn the lane was last given, also when its lock is gone: a holder does not know. */
  held: HeldLane | null = null;
  /** Turns that others followed: their holders were frozen, and may wake. */
  ghosts: HeldLane[] = [];
  readonly staleTokens: string[] = ["never held"];
  /** Keys whose job is not done: it will come back. */
  readonly jobs = new Set<string>();
  /** Keys whose publisher died before it made a job. */
  readonly orphans = new Set<string>();

  constructor({ model, raw }: { readonly model: ModelLane; readonly raw: RawLane }) {
    this.model = model;
    this.raw = raw;
    const empty = { lock: null, lockLeftMs: -2, line: [], bodies: {}, seats: {}, outcomes: {}, tries: 0 };
    this.witness = new LaneWitness(empty);
  }

  /** Another turn of the lane began; whoever had the last one does not know. */
  gaveTurn(next: HeldLane | null): void {
    if (this.held !== null && this.held.turn.token !== next?.turn.token) {
      this.staleTokens.push(this.held.turn.token);
      this.ghosts.push(this.held);
    }
    this.held = next;
  }
}

/** Real lanes and their models side by side, with the publishers and workers that use them. */
export class World {
  readonly places: readonly LanePlace[];
  readonly #connections: Connections;
  readonly #prefix: string;
  readonly #workers: Worker[] = [];
  readonly #opened: Lanes[] = [];
  readonly #live = new Set<string>();
  readonly #heard = new Map<Listener, number>();
  #waits: Wait[] = [];
  #tokens = 0;
  #channels = 0;

  private constructor(connections: Connections, prefix: string) {
    this.#connections = connections;
    this.#prefix = prefix;
    this.places = Array.from({ length: LANES }, (_, index) => {
      const lcid = `lane-${index}`;
      const model = new ModelLane(lcid, (channel) => this.#live.has(channel));
      const options = { prefix, lcid, batch: BATCH, cap: CAP, leaseMs: LEASE_MS, ttlMs: TTL_MS };
      return new LanePlace({ model, raw: new RawLane(connections.doubled.redis, options) });
    });
  }

  static async open(connections: Connections, prefix: string): Promise<World> {
    const world = new World(connections, prefix);
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
    const options = { prefix: this.#prefix, batch: BATCH, cap: CAP, leaseMs: LEASE_MS };
    this.#live.add(channel);
    const lanes = createLanes({ redis: doubled.redis, ...options });
    this.#opened.push(lanes);
    return { lanes, listener: await Listener.on(subscriber, channel) };
  }

  /** The process is gone without a word: nobody hears its channel, and what it held lapses some time later. */
  async crash(index: number): Promise<void> {
    const { listener } = this.worker(index);
    await listener.die();
    this.#live.delete(listener.channel);
    for (const place of this.places) {
      place.ghosts = place.ghosts.filter(({ worker }) => worker !== index);
      if (place.held?.worker !== index) continue;
      place.staleTokens.push(place.held.turn.token);
      place.held = null;
    }
    this.#waits = this.#waits.filter(({ worker }) => worker !== index);
    // Its Lanes object stays until the world ends: closing it would leave its turns, which a killed process does not.
    this.#workers[index] = await this.#hire();
  }

  /** Those that stand at a lane. */
  waitsAt(lane: number): readonly Wait[] {
    return this.#waits.filter((wait) => wait.lane === lane);
  }

  /** The wait of a job, begun now if it has not begun yet. */
  waitOf(job: Omit<Wait, "token">): Wait {
    const known = this.waitsAt(job.lane).find(({ worker, key }) => worker === job.worker && key === job.key);
    if (known !== undefined) return known;
    this.#tokens += 1;
    const wait = { ...job, token: `${this.#prefix}:${this.#tokens}` };
    this.#waits.push(wait);
    return wait;
  }

  endWait(ended: Wait): void {
    this.#waits = this.#waits.filter((wait) => wait !== ended);
  }

  async flushScripts(): Promise<void> {
    await this.#connections.redis.script("FLUSH");
  }

  /** Runs one call, each of its scripts sent twice if asked. */
  async call<T>(twice: boolean, call: () => Promise<T>): Promise<T> {
    this.#connections.doubled.on = twice;
    try {
      return await call();
    } finally {
      this.#connections.doubled.on = false;
    }
  }

  /** After each step: what is promised, by what a witness sees; then the answers and the whole state, by the model. */
  async look({ at, deed, answers = [] }: Done): Promise<void> {
    const [snapshots, words] = await Promise.all([this.#snapshots(), this.#words()]);
    for (const [index, place] of this.places.entries()) {
      const { model, witness, jobs, orphans } = place;
      const mine = words.map(({ word }) => word).filter(([, lcid]) => lcid === model.lcid);
      witness.see(snapshots[index]!, place === at ? deed : {}, {
        words: mine,
        isLive: (channel) => this.#live.has(channel),
        isExpected: (key) => jobs.has(key) || orphans.has(key),
      });
      for (const key of mine.flatMap(settledIn)) jobs.delete(key);
    }
    for (const [what, actual, expected] of answers) same(what, actual, expected);
    for (const [index, { model }] of this.places.entries()) compare(snapshots[index]!, model);
    this.#endWaitsThat(words);
    const told = this.places.flatMap(({ model }) => model.told.splice(0));
    same("words to processes", words.map(inOneForm).toSorted(), told.map(inOneForm).toSorted());
  }

  #endWaitsThat(heard: readonly { channel: string; word: readonly string[] }[]): void {
    for (const { channel, word } of heard) {
      const worker = this.#workers.findIndex(({ listener }) => listener.channel === channel);
      const lane = this.places.findIndex(({ model }) => model.lcid === word[1]);
      const settled = settledIn(word);
      const isOver = (wait: Wait): boolean =>
        wait.worker === worker && wait.lane === lane && settled.includes(wait.key);
      this.#waits = this.#waits.filter((wait) => !isOver(wait));
    }
  }

  /** What each live process heard since the last look. */
  async #words(): Promise<{ channel: string; word: readonly string[] }[]> {
    await this.#connections.subscriber.ping();
    return this.#workers.flatMap(({ listener }) => {
      const heard = listener.heard.slice(this.#heard.get(listener) ?? 0);
      this.#heard.set(listener, listener.heard.length);
      return heard.map((word) => ({ channel: listener.channel, word }));
    });
  }

  async #snapshots(): Promise<Snapshot[]> {
    const pipeline = this.#connections.redis.pipeline();
    for (const { raw } of this.places) {
      pipeline.get(raw.key("lock")).pttl(raw.key("lock")).lrange(raw.key("wait"), 0, -1);
      pipeline.hgetall(raw.key("body")).hgetall(raw.key("seat")).hgetall(raw.key("done"));
      pipeline.get(raw.key("tries"));
    }
    const replies = ((await pipeline.exec()) ?? []).map(([error, reply]) => {
      if (error !== null) throw error;
      return reply;
    });
    return this.places.map((_, index) => snapshotOf(replies.slice(index * 7, index * 7 + 7)));
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((lanes) => lanes.close()));
    for (const { listener } of this.#workers) await listener.die();
    const keys = this.places.flatMap(({ raw }) => KEYS_OF.inspect.map((name) => raw.key(name)));
    await this.#connections.redis.unlink(...keys);
  }
}

/** The keys whose outcomes a word brings. */
function settledIn([kind, , ...rest]: readonly string[]): string[] {
  return kind === "settled" ? rest.filter((_, index) => index % 2 === 0) : [];
}

function snapshotOf(replies: readonly unknown[]): Snapshot {
  const [lock, lockLeftMs, line, bodies, seats, outcomes, tries] = replies as [
    string | null,
    number,
    string[],
    Record<string, string>,
    Record<string, string>,
    Record<string, string>,
    string | null,
  ];
  return {
    lock,
    lockLeftMs,
    line,
    bodies: withoutStamps(bodies),
    seats: { ...seats },
    outcomes: withoutStamps(outcomes),
    tries: Number(tries ?? 0),
  };
}

/** Bodies and outcomes are stored behind the time they were stored at. */
function withoutStamps(stored: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(stored).map(([key, text]) => [key, text.replace(/^\d+:/, "")]));
}

function compare(lane: Snapshot, model: ModelLane): void {
  same("who holds the lane, by the model", lane.lock, model.lock);
  same("the line, by the model", lane.line, model.line);
  const bodies = Object.fromEntries([...model.bodies].map((key) => [key, `body of ${key}`]));
  same("the bodies, by the model", lane.bodies, bodies);
  same("the seats, by the model", lane.seats, Object.fromEntries(model.seats));
  same("the outcomes, by the model", lane.outcomes, Object.fromEntries(model.outcomes));
  same("vanished holders, by the model", lane.tries, model.tries);
}

/** The order of outcomes in one word means nothing. */
function inOneForm({ channel, word }: { channel: string; word: readonly string[] }): string {
  const [kind, lcid, ...rest] = word;
  const pairs = rest.map((item, index) => (index % 2 === 0 ? `${item}=${rest[index + 1] ?? ""}` : ""));
  return JSON.stringify([channel, kind, lcid, pairs.filter((pair) => pair !== "").toSorted()]);
}
