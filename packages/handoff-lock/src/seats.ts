import { Cancellations } from "./cancellations.ts";
import type { Word } from "./replies.ts";
import { Seat } from "./seat.ts";
import type { Settings } from "./settings.ts";

/** The seats of one lane, and when it was last heard of. */
interface WaitingLane {
  readonly byKey: Map<string, Seat[]>;
  /** Every seat, oldest ask first: the one to ask next is in front. */
  readonly queue: Set<Seat>;
  lastWordAtMs: number;
  lastProgressAtMs: number;
  lastAskAtMs: number;
  head: string;
}

interface SeatsOptions {
  readonly settings: Settings;
  /** A wake reached this process for a lane in which nobody waits any more. */
  readonly onUnheardWake: (lcid: string, key: string) => void;
}

/**
 * Everybody in this process who waits in some lane.
 *
 * 1. Passes words on: an outcome to whom it concerns, a wake to the seat it names or to any other of that lane.
 * 2. Makes one seat of a quiet lane ask Redis, a different one each time: one timer looks after all of them.
 * 3. Ends waits that have become pointless.
 */
export class Seats {
  readonly #settings: Settings;
  readonly #onUnheardWake: (lcid: string, key: string) => void;
  readonly #lanes = new Map<string, WaitingLane>();
  readonly #cancellations = new Cancellations();
  #timer: NodeJS.Timeout | null = null;

  constructor({ settings, onUnheardWake }: SeatsOptions) {
    this.#settings = settings;
    this.#onUnheardWake = onUnheardWake;
  }

  take(lcid: string, key: string, signal: AbortSignal): Seat {
    const nowMs = performance.now();
    const seat = new Seat({ lcid, key, signal, nowMs });
    let lane = this.#lanes.get(lcid);
    if (lane === undefined) {
      lane = {
        byKey: new Map(),
        queue: new Set(),
        lastWordAtMs: nowMs,
        lastProgressAtMs: nowMs,
        lastAskAtMs: nowMs,
        head: "",
      };
      this.#lanes.set(lcid, lane);
    }
    lane.queue.add(seat);
    const twins = lane.byKey.get(key);
    if (twins === undefined) lane.byKey.set(key, [seat]);
    else twins.push(seat);
    this.#cancellations.watch(signal, seat);
    this.#timer ??= setInterval(() => this.#look(), Math.min(100, Math.max(5, this.#settings.pollMs / 4)));
    return seat;
  }

  release(seat: Seat): void {
    this.#cancellations.unwatch(seat.signal, seat);
    const lane = this.#lanes.get(seat.lcid);
    if (lane === undefined) return;
    lane.queue.delete(seat);
    const twins = lane.byKey.get(seat.key)?.filter((twin) => twin !== seat) ?? [];
    if (twins.length > 0) lane.byKey.set(seat.key, twins);
    else lane.byKey.delete(seat.key);
    if (lane.queue.size === 0) this.#lanes.delete(seat.lcid);
    if (this.#lanes.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** This seat asks Redis now, so the rest of its lane need not. */
  asking(seat: Seat): void {
    const nowMs = performance.now();
    seat.asking(nowMs);
    const lane = this.#lanes.get(seat.lcid);
    if (lane === undefined || !lane.queue.delete(seat)) return;
    lane.queue.add(seat);
    lane.lastAskAtMs = nowMs;
  }

  /** What a waiting seat was told about its lane: another head than before is progress. */
  noteHead(lcid: string, head: string): void {
    const lane = this.#lanes.get(lcid);
    if (lane === undefined || lane.head === head) return;
    lane.head = head;
    lane.lastProgressAtMs = performance.now();
  }

  hear(word: Word): void {
    const lane = this.#lanes.get(word.lcid);
    if (lane === undefined) {
      if (word.kind === "wake") this.#onUnheardWake(word.lcid, word.key);
      return;
    }
    lane.lastWordAtMs = performance.now();
    lane.lastProgressAtMs = lane.lastWordAtMs;
    if (word.kind === "settled") {
      for (const [key, value] of word.outcomes) {
        for (const seat of lane.byKey.get(key) ?? []) seat.call({ kind: "settled", value });
      }
      return;
    }
    const [named] = lane.byKey.get(word.key) ?? lane.queue;
    named?.call({ kind: "ask" });
  }

  /** Words may have been missed, anybody's: everybody asks, which is one write of many small calls. */
  missed(): void {
    for (const lane of this.#lanes.values()) {
      for (const seat of lane.queue) seat.call({ kind: "ask" });
    }
  }

  cancelAll(): void {
    for (const lane of this.#lanes.values()) {
      for (const seat of lane.queue) seat.call({ kind: "cancelled" });
    }
  }

  #look(): void {
    const nowMs = performance.now();
    for (const lane of this.#lanes.values()) this.#lookAt(lane, nowMs);
  }

  #lookAt(lane: WaitingLane, nowMs: number): void {
    const { pollMs, waitMs, wordMs } = this.#settings;
    for (const seat of lane.queue) {
      if (!seat.waiting) continue;
      const stillMs = nowMs - Math.max(seat.takenAtMs, lane.lastProgressAtMs);
      const silentMs = nowMs - Math.max(seat.takenAtMs, lane.lastWordAtMs);
      if (stillMs >= waitMs || silentMs >= wordMs) seat.call({ kind: "giveUp" });
      // A busy lane is never quiet, so a seat whose own outcome went astray asks for itself in the end.
      else if (nowMs - seat.askedAtMs >= wordMs) seat.call({ kind: "ask" });
    }
    if (nowMs - Math.max(lane.lastWordAtMs, lane.lastAskAtMs) >= pollMs) askNext(lane);
  }
}

function askNext(lane: WaitingLane): void {
  for (const seat of lane.queue) {
    if (!seat.waiting) continue;
    seat.call({ kind: "ask" });
    return;
  }
}
