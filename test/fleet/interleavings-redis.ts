import type { LaneRequest, StandingRequest } from "@junban/handoff-lock";
import type { Misfortunes } from "./interleavings-steps.ts";

/** `missed`: Redis passed the word on and it never arrived; `deaf`: Redis found nobody subscribed, although the process lives. */
export type WordMisfortune = "missed" | "deaf";

/** A process that can be told something about a request it waits for. A word without an outcome is a wake. */
export interface Hearer {
  readonly dead: boolean;
  hear(key: string, value: string | null): void;
}

export interface ModelLane {
  token: string | null;
  wait: StandingRequest[];
  seats: Map<string, Hearer>;
  done: Map<string, string>;
  tries: number;
}

function emptyLane(): ModelLane {
  return { token: null, wait: [], seats: new Map(), done: new Map(), tries: 0 };
}

/** The lanes of all processes: what Redis would hold. One method call is one atomic step. */
export class ModelRedis {
  readonly #words: Misfortunes<WordMisfortune>;
  readonly #lanes = new Map<string, ModelLane>();
  #tokens = 0;

  constructor({ words }: { readonly words: Misfortunes<WordMisfortune> }) {
    this.#words = words;
  }

  lane(lcid: string): ModelLane {
    const known = this.#lanes.get(lcid);
    if (known !== undefined) return known;
    const lane = emptyLane();
    this.#lanes.set(lcid, lane);
    return lane;
  }

  get lanes(): readonly (readonly [lcid: string, lane: ModelLane])[] {
    return [...this.#lanes];
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
    this.lane(lcid).token = null;
  }

  /** Every key of the lane is gone. */
  loseLane(lcid: string): void {
    this.#lanes.set(lcid, emptyLane());
  }

  letGo(lane: ModelLane): void {
    lane.token = null;
    lane.tries = 0;
  }

  /** The first seat in line that somebody hears; silent ones before it go. */
  wake(lane: ModelLane): boolean {
    for (const { key } of lane.wait) {
      const seat = lane.seats.get(key);
      if (seat === undefined) continue;
      if (this.#say(seat, key, null)) return true;
      lane.seats.delete(key);
    }
    return false;
  }

  /** To the process that waits for it, or into `done`. */
  tell(lane: ModelLane, key: string, value: string): void {
    const seat = lane.seats.get(key);
    lane.seats.delete(key);
    if (seat === undefined || !this.#say(seat, key, value)) lane.done.set(key, value);
  }

  #say(seat: Hearer, key: string, value: string | null): boolean {
    const misfortune = this.#words.next();
    if (seat.dead || misfortune === "deaf") return false;
    if (misfortune === "none") seat.hear(key, value);
    return true;
  }
}
