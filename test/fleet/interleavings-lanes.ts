import { performance } from "node:perf_hooks";
import { LaneUnavailableError } from "@junban/handoff-lock";
import type {
  Entry,
  Handoff,
  HandOffOptions,
  LaneRequest,
  Settlement,
  Standing,
  Turn,
} from "@junban/handoff-lock";
import type { FleetWorkerOptions } from "../../apps/worker/src/index.ts";
import type { Hearer, ModelRedis } from "./interleavings-redis.ts";
import type { Misfortunes, Steps } from "./interleavings-steps.ts";

export type LanesPort = FleetWorkerOptions["lanes"];

/** `unsent`: it never reached Redis; `unheard`: it was done, and nobody learns of it; `twice`: it was sent again for want of an answer. */
export type LaneMisfortune = "unsent" | "unheard" | "twice";

interface Attempt {
  readonly lcid: string;
  readonly token: string;
  readonly request: LaneRequest | undefined;
  /** Whether the request may join the line; it always may but right after it was settled, perhaps. */
  readonly joins: boolean;
  /** Whether somebody stays to hear what becomes of it. */
  readonly listens: boolean;
}

type Attempted = Entry | { readonly kind: "absent" };
type Heard = (value: string | null) => void;

const POLLS = 4;

/** What a dead process waits for. A promise of its own each time, so that nothing keeps the dead in memory. */
export function never(): Promise<never> {
  return new Promise(() => {});
}

/** The lanes as one process sees them. Every step is scheduled twice: on its way there, and on its way back. */
export class ModelLanes implements Pick<LanesPort, "enter" | "stand">, Hearer {
  readonly #redis: ModelRedis;
  readonly #steps: Steps;
  readonly #batch: number;
  readonly #misfortunes: Misfortunes<LaneMisfortune>;
  readonly #listening = new Map<string, Set<Heard>>();
  readonly #turns: { lcid: string; token: string; abort: AbortController }[] = [];
  dead = false;

  constructor(options: {
    redis: ModelRedis;
    steps: Steps;
    batch: number;
    misfortunes: Misfortunes<LaneMisfortune>;
  }) {
    this.#redis = options.redis;
    this.#steps = options.steps;
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
    this.dead = true;
    for (const { lcid, token } of this.#turns) this.#lapseLater(lcid, token);
  }

  async enter(lcid: string, request?: LaneRequest): Promise<Entry> {
    const attempt = { lcid, token: this.#redis.newToken(), request, joins: true, listens: false };
    const entry = await this.#attempt(attempt);
    if (entry.kind === "absent") throw new Error("a request that may join the line joins it");
    return entry;
  }

  async stand(lcid: string, request: LaneRequest, { signal }: { signal: AbortSignal }): Promise<Standing> {
    const token = this.#redis.newToken();
    // A request that stood and is gone was just settled: only when it is still missing the next time does it join again.
    let joins = true;
    for (let polls = 0; polls < POLLS; polls += 1) {
      if (signal.aborted) return this.#stepBack(lcid, request.key, "cancelled");
      // Listening begins before the step is sent, or a word that follows it closely would be missed.
      const listener = this.#listen(request.key);
      try {
        const entry = await this.#attempt({ lcid, token, request, joins, listens: true });
        if (entry.kind === "turn" || entry.kind === "settled") return entry;
        joins = entry.kind === "absent";
        const poll = this.#steps.take("poll", lcid).then(() => null);
        const value = await Promise.race([listener.word, poll]);
        if (value !== null) return { kind: "settled", value };
      } finally {
        listener.close();
      }
    }
    return this.#stepBack(lcid, request.key, "steppedBack");
  }

  #stepBack(lcid: string, key: string, kind: "cancelled" | "steppedBack"): Promise<Standing> {
    return this.#step("step back", lcid, () => {
      const lane = this.#redis.lane(lcid);
      const value = lane.done.get(key);
      if (value !== undefined) {
        lane.done.delete(key);
        return { kind: "settled", value };
      }
      if (lane.seats.get(key) === this) {
        lane.seats.delete(key);
        if (lane.token === null) this.#redis.wake(lane);
      }
      return { kind };
    });
  }

  async #attempt(attempt: Attempt): Promise<Attempted> {
    try {
      return await this.#step("enter", attempt.lcid, () => this.#enterNow(attempt));
    } catch (error) {
      // Perhaps taken, and nobody knows: only its lease ends it.
      this.#lapseLater(attempt.lcid, attempt.token);
      throw error;
    }
  }

  #enterNow({ lcid, token, request, joins, listens }: Attempt): Attempted {
    const lane = this.#redis.lane(lcid);
    if (request !== undefined) {
      const value = lane.done.get(request.key);
      if (value !== undefined) {
        lane.done.delete(request.key);
        return { kind: "settled", value };
      }
      if (!joins && !lane.wait.some(({ key }) => key === request.key)) return { kind: "absent" };
      this.#redis.queue(lcid, request);
    }
    if (lane.token !== null && lane.token !== token) {
      if (request !== undefined && listens) lane.seats.set(request.key, this);
      return { kind: "waiting", position: 0 };
    }
    if (request !== undefined) lane.seats.delete(request.key);
    if (lane.token === null) lane.tries += 1;
    lane.token = token;
    return { kind: "turn", turn: this.#turn(lcid, token) };
  }

  #turn(lcid: string, token: string): Turn {
    const lane = this.#redis.lane(lcid);
    const abort = new AbortController();
    this.#turns.push({ lcid, token, abort });
    return {
      lcid,
      token,
      tries: lane.tries,
      requests: lane.wait.slice(0, this.#batch),
      signal: abort.signal,
      startedAtMs: performance.now(),
      deadlineMs: () => performance.now() + 60_000,
      handOff: (settlements, options = {}) =>
        this.#step("hand off", lcid, () => this.#handOffNow({ lcid, token, settlements, options })),
      leave: async () => {
        await this.#step("leave", lcid, () => this.#leaveNow(lcid, token)).catch(() =>
          this.#lapseLater(lcid, token),
        );
      },
    };
  }

  #leaveNow(lcid: string, token: string): void {
    const lane = this.#redis.lane(lcid);
    if (lane.token !== token) return;
    this.#redis.letGo(lane);
    this.#redis.wake(lane);
  }

  #handOffNow(call: {
    lcid: string;
    token: string;
    settlements: readonly Settlement[];
    options: HandOffOptions;
  }): Handoff {
    const lane = this.#redis.lane(call.lcid);
    if (lane.token !== call.token) return { kind: "lost" };
    const { own = [], yieldTurn = false, batch = this.#batch } = call.options;
    for (const { key, value } of call.settlements) {
      if (!lane.wait.some((standing) => standing.key === key)) continue;
      lane.wait = lane.wait.filter((standing) => standing.key !== key);
      if (own.includes(key)) lane.seats.delete(key);
      else this.#redis.tell(lane, key, value);
    }
    if (lane.wait.length === 0) {
      this.#redis.letGo(lane);
      lane.seats.clear();
      return { kind: "released" };
    }
    if (yieldTurn && this.#redis.wake(lane)) {
      this.#redis.letGo(lane);
      return { kind: "yielded" };
    }
    lane.tries = 0;
    return { kind: "next", requests: lane.wait.slice(0, batch) };
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
    void this.#steps.take("lapse", lcid).then(() => {
      if (this.#redis.lane(lcid).token === token) this.#redis.loseLease(lcid);
    });
  }

  async #step<T>(kind: string, lcid: string, step: () => T): Promise<T> {
    const misfortune = this.#misfortunes.next();
    await this.#steps.take(kind, lcid);
    if (this.dead) return never();
    if (misfortune === "unsent") throw new LaneUnavailableError({ command: kind });
    let answer = step();
    if (misfortune === "twice") {
      await this.#steps.take(`${kind} again`, lcid);
      if (this.dead) return never();
      answer = step();
    }
    await this.#steps.take("answer", `to ${kind} ${lcid}`);
    if (this.dead) return never();
    if (misfortune === "unheard") throw new LaneUnavailableError({ command: kind });
    return answer;
  }
}

/** The lanes as the fleet's port. No sweeper runs in the model, so the rest of the port is never asked. */
export function lanesPort(lanes: Pick<LanesPort, "enter" | "stand">): LanesPort {
  return {
    enter: (lcid, request) => lanes.enter(lcid, request),
    stand: (lcid, request, options) => lanes.stand(lcid, request, options),
    scan: () => neverAsked(),
    inspect: () => neverAsked(),
    sweepOutcomes: () => neverAsked(),
  };
}

function neverAsked(): never {
  throw new Error("no sweeper runs in the model");
}
