import { performance } from "node:perf_hooks";
import { LaneUnavailableError } from "@junban/handoff-lock";
import type {
  Entry,
  Handoff,
  HandOffOptions,
  LaneRequest,
  Settlement,
  Standing,
  StandingRequest,
  Turn,
} from "@junban/handoff-lock";
import type { LaneBatch, LaneResult, Settled } from "@junban/order-store";
import type fc from "fast-check";
import type { FleetWorkerOptions } from "../../apps/worker/src/index.ts";

type LanesPort = FleetWorkerOptions["lanes"];
type StorePort = FleetWorkerOptions["store"];

/** Draws what may go wrong, in a fixed order, so that a seed replays; answers false when the list is used up. */
export class Misfortunes {
  readonly #list: readonly boolean[];
  #next = 0;

  constructor(list: readonly boolean[]) {
    this.#list = list;
  }

  strikes(): boolean {
    this.#next += 1;
    return this.#list[this.#next - 1] ?? false;
  }
}

interface ModelLane {
  token: string | null;
  wait: StandingRequest[];
  seats: Map<string, ModelLanes>;
  done: Map<string, string>;
}

/** The lanes of all processes: what Redis would hold. One method call is one atomic step. */
export class ModelRedis {
  readonly #lanes = new Map<string, ModelLane>();
  #tokens = 0;
  /** Turns taken while another turn of the lane was still held: must stay 0 unless a lease was lost. */
  leasesLost = 0;

  lane(lcid: string): ModelLane {
    const known = this.#lanes.get(lcid);
    if (known !== undefined) return known;
    const lane: ModelLane = { token: null, wait: [], seats: new Map(), done: new Map() };
    this.#lanes.set(lcid, lane);
    return lane;
  }

  queue(lcid: string, request: LaneRequest): void {
    const { wait } = this.lane(lcid);
    if (!wait.some(({ key }) => key === request.key)) wait.push({ ...request, publishedAtMs: Date.now() });
  }

  newToken(): string {
    this.#tokens += 1;
    return `t${this.#tokens}`;
  }

  loseLease(lcid: string): void {
    const lane = this.lane(lcid);
    if (lane.token === null) return;
    lane.token = null;
    this.leasesLost += 1;
  }

  wake(lane: ModelLane): void {
    for (const { key } of lane.wait) {
      const seat = lane.seats.get(key);
      if (seat === undefined) continue;
      seat.hear(key, null);
      return;
    }
  }
}

const NEVER = new Promise<never>(() => {});

type Heard = (value: string | null) => void;

/** The lanes as one process sees them. Every step is scheduled twice: on its way there, and on its way back. */
export class ModelLanes implements Pick<LanesPort, "enter" | "stand"> {
  readonly #redis: ModelRedis;
  readonly #scheduler: fc.Scheduler;
  readonly #batch: number;
  readonly #misfortunes: Misfortunes;
  readonly #listening = new Map<string, Set<Heard>>();
  readonly #turns: { lcid: string; token: string; abort: AbortController }[] = [];
  #dead = false;

  constructor(options: {
    redis: ModelRedis;
    scheduler: fc.Scheduler;
    batch: number;
    misfortunes: Misfortunes;
  }) {
    this.#redis = options.redis;
    this.#scheduler = options.scheduler;
    this.#batch = options.batch;
    this.#misfortunes = options.misfortunes;
  }

  hear(key: string, value: string | null): void {
    for (const heard of this.#listening.get(key) ?? []) heard(value);
  }

  /** What the renewal timer would find out, at some time or other. */
  noticeLostLeases(): void {
    for (const { lcid, token, abort } of this.#turns) {
      if (this.#redis.lane(lcid).token !== token) abort.abort();
    }
  }

  /** The process is gone: nothing is asked or answered any more, and what it held lapses at some time or other. */
  die(): void {
    this.#dead = true;
    for (const { lcid, token } of this.#turns) this.#lapseLater(lcid, token);
  }

  async enter(lcid: string, request?: LaneRequest): Promise<Entry> {
    let entry: Entry | null = null;
    try {
      return await this.#step(`enter ${lcid}`, () => {
        entry = this.#enterNow(lcid, request);
        return entry;
      });
    } catch (error) {
      // Taken, and nobody knows: only its lease ends it.
      lapseLater(entry, (token) => this.#lapseLater(lcid, token));
      throw error;
    }
  }

  async stand(lcid: string, request: LaneRequest, { signal }: { signal: AbortSignal }): Promise<Standing> {
    for (let polls = 0; polls < 4; polls += 1) {
      if (signal.aborted) return this.#stepBack(lcid, request.key, "cancelled");
      // Listening begins before the step is sent, or a word that follows it closely would be missed.
      const listener = this.#listen(request.key);
      try {
        const entry = await this.enter(lcid, request);
        if (entry.kind !== "waiting") return entry;
        const poll = this.#scheduler.schedule(Promise.resolve(null), `poll ${lcid}`);
        const value = await Promise.race([listener.word, poll]);
        if (value !== null) return { kind: "settled", value };
      } finally {
        listener.close();
      }
    }
    return this.#stepBack(lcid, request.key, "steppedBack");
  }

  async #stepBack(lcid: string, key: string, kind: "cancelled" | "steppedBack"): Promise<Standing> {
    return this.#step(`step back ${lcid}`, () => {
      const lane = this.#redis.lane(lcid);
      const value = lane.done.get(key);
      if (value !== undefined) {
        lane.done.delete(key);
        return { kind: "settled", value };
      }
      if (lane.seats.get(key) === this) lane.seats.delete(key);
      return { kind };
    });
  }

  #enterNow(lcid: string, request: LaneRequest | undefined): Entry {
    const lane = this.#redis.lane(lcid);
    if (request !== undefined) {
      const value = lane.done.get(request.key);
      if (value !== undefined) {
        lane.done.delete(request.key);
        return { kind: "settled", value };
      }
      this.#redis.queue(lcid, request);
    }
    if (lane.token !== null) {
      if (request !== undefined) lane.seats.set(request.key, this);
      return { kind: "waiting", position: 0 };
    }
    if (request !== undefined) lane.seats.delete(request.key);
    lane.token = this.#redis.newToken();
    return { kind: "turn", turn: this.#turn(lcid, lane.token, lane.wait.slice(0, this.#batch)) };
  }

  #turn(lcid: string, token: string, requests: readonly StandingRequest[]): Turn {
    const abort = new AbortController();
    this.#turns.push({ lcid, token, abort });
    return {
      lcid,
      token,
      tries: 1,
      requests,
      signal: abort.signal,
      startedAtMs: performance.now(),
      deadlineMs: () => performance.now() + 60_000,
      handOff: (settlements, options) =>
        this.#step(`hand off ${lcid}`, () =>
          this.#handOffNow({ lcid, token, settlements, options: options ?? {} }),
        ),
      leave: async () => {
        await this.#step(`leave ${lcid}`, () => {
          const lane = this.#redis.lane(lcid);
          if (lane.token !== token) return;
          lane.token = null;
          this.#redis.wake(lane);
        }).catch(() => this.#lapseLater(lcid, token));
      },
    };
  }

  #handOffNow(call: {
    lcid: string;
    token: string;
    settlements: readonly Settlement[];
    options: HandOffOptions;
  }): Handoff {
    const lane = this.#redis.lane(call.lcid);
    if (lane.token !== call.token) return { kind: "lost" };
    const own = new Set(call.options.own);
    for (const { key, value } of call.settlements) {
      lane.wait = lane.wait.filter((standing) => standing.key !== key);
      const seat = lane.seats.get(key);
      lane.seats.delete(key);
      if (own.has(key)) continue;
      if (seat === undefined) lane.done.set(key, value);
      else seat.hear(key, value);
    }
    if (lane.wait.length === 0) {
      lane.token = null;
      return { kind: "released" };
    }
    if (call.options.yieldTurn === true && lane.seats.size > 0) {
      lane.token = null;
      this.#redis.wake(lane);
      return { kind: "yielded" };
    }
    return { kind: "next", requests: lane.wait.slice(0, call.options.batch ?? this.#batch) };
  }

  #listen(key: string): { word: Promise<string | null>; close: () => void } {
    const listeners = this.#listening.get(key) ?? new Set<Heard>();
    this.#listening.set(key, listeners);
    let heard: Heard = () => {};
    const word = new Promise<string | null>((resolve) => {
      heard = resolve;
    });
    listeners.add(heard);
    return { word, close: () => listeners.delete(heard) };
  }

  #lapseLater(lcid: string, token: string): void {
    void this.#scheduler.schedule(Promise.resolve(), `lease of ${lcid} lapses`).then(() => {
      if (this.#redis.lane(lcid).token === token) this.#redis.loseLease(lcid);
    });
  }

  async #step<T>(name: string, step: () => T): Promise<T> {
    await this.#scheduler.schedule(Promise.resolve(), name);
    if (this.#dead) return NEVER;
    if (this.#misfortunes.strikes()) throw new LaneUnavailableError({ command: name });
    const answer = step();
    await this.#scheduler.schedule(Promise.resolve(), `answer to ${name}`);
    if (this.#dead) return NEVER;
    // The step was done, and nobody learns of it.
    if (this.#misfortunes.strikes()) throw new LaneUnavailableError({ command: name });
    return answer;
  }
}

function lapseLater(entry: Entry | null, lapse: (token: string) => void): void {
  if (entry?.kind === "turn") lapse(entry.turn.token);
}

/** Postgres: the rows in the order of first decisions, and which lanes are in a transaction right now. */
export class ModelStore {
  readonly #scheduler: fc.Scheduler;
  readonly #misfortunes: Misfortunes;
  readonly #inTransaction = new Map<string, number>();
  /** Keys by lcid, in the order in which they were first decided. */
  readonly rows = new Map<string, string[]>();
  /** Most transactions one lane was in at once. */
  mostAtOnce = 0;
  largestGroup = 0;

  constructor(options: { scheduler: fc.Scheduler; misfortunes: Misfortunes }) {
    this.#scheduler = options.scheduler;
    this.#misfortunes = options.misfortunes;
  }

  isSettled(lcid: string, key: string): boolean {
    return this.rows.get(lcid)?.includes(key) ?? false;
  }

  /** The store as one process sees it, for as long as that process lives. */
  of(process: { readonly dead: boolean }): Pick<StorePort, "apply"> {
    return { apply: (batches) => this.apply(batches, process) };
  }

  async apply(
    batches: readonly LaneBatch[],
    process: { readonly dead: boolean },
  ): Promise<readonly LaneResult[]> {
    this.largestGroup = Math.max(this.largestGroup, batches.length);
    for (const { lcid } of batches) this.#count(lcid, 1);
    await this.#scheduler.schedule(Promise.resolve(), `begin ${batches.map(({ lcid }) => lcid).join("+")}`);
    if (process.dead) return NEVER;
    const results = batches.map((batch) => this.#commit(batch));
    await this.#scheduler.schedule(
      Promise.resolve(),
      `committed ${batches.map(({ lcid }) => lcid).join("+")}`,
    );
    if (process.dead) return NEVER;
    for (const { lcid } of batches) this.#count(lcid, -1);
    return results;
  }

  #commit({ lcid, requests }: LaneBatch): LaneResult {
    const troubled = this.#misfortunes.strikes();
    const reached = troubled ? requests.slice(0, Math.floor(requests.length / 2)) : requests;
    const settled = reached.map(({ key }) => this.#decide(lcid, key));
    const trouble = troubled ? ({ kind: "passing", error: new Error("try again") } as const) : null;
    return { lcid, settled, trouble, released: 0 };
  }

  #decide(lcid: string, key: string): Settled {
    const rows = this.rows.get(lcid) ?? [];
    this.rows.set(lcid, rows);
    const repeat = rows.includes(key);
    if (!repeat) rows.push(key);
    const version = rows.indexOf(key) + 1;
    return {
      key,
      source: "/s",
      id: key,
      type: "line.added",
      outcome: "applied",
      reason: null,
      version,
      repeat,
    };
  }

  #count(lcid: string, by: number): void {
    const now = (this.#inTransaction.get(lcid) ?? 0) + by;
    this.#inTransaction.set(lcid, now);
    this.mostAtOnce = Math.max(this.mostAtOnce, now);
  }
}

/** The lanes as the fleet's port. Nothing sweeps in the model, so the rest of the port is never asked. */
export function lanesPort(lanes: ModelLanes): LanesPort {
  return {
    enter: (lcid, request) => lanes.enter(lcid, request),
    stand: (lcid, request, options) => lanes.stand(lcid, request, options),
    scan: () => neverAsked(),
    inspect: () => neverAsked(),
    sweepOutcomes: () => neverAsked(),
  };
}

/** The store as the fleet's port. */
export function storePort(store: Pick<StorePort, "apply">): StorePort {
  return {
    apply: (batches) => store.apply(batches),
    ping: () => Promise.resolve(),
    poolInUse: () => 0,
    dueHeld: () => neverAsked(),
    expireHeld: () => neverAsked(),
    unsupported: () => neverAsked(),
    redecideUnsupported: () => neverAsked(),
    stuckHalted: () => neverAsked(),
    releaseHalted: () => neverAsked(),
    gauges: () => neverAsked(),
  };
}

function neverAsked(): never {
  throw new Error("the model does not sweep");
}
