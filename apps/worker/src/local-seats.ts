import type { Outcome, Settled } from "@junban/order-store";

/** How a wait in a local seat ended. `again`: ask for the way once more; `knock`: ask the lane itself; `stepBack`: leave the slot. */
export type SeatEnd =
  | { readonly kind: "settled"; readonly outcome: Outcome }
  | { readonly kind: "again" }
  | { readonly kind: "knock" }
  | { readonly kind: "stepBack" };

/**
 * The way a job takes to its lane. `first`: nobody of this process is there, go with `enter`; `told`: this process serves the
 * lane and has decided the request before its job was fetched; `knock`: so it has, but the turn may be over, or the job sat for long,
 * so ask the lane itself; `stand`: others of this process already stand at a turn held elsewhere; `sit`: this process serves the
 * lane, or is on the way to it, so wait here without a call.
 */
export type Way =
  | { readonly kind: "first" }
  | { readonly kind: "told" }
  | { readonly kind: "knock" }
  | { readonly kind: "stand" }
  | { readonly kind: "sit"; readonly end: Promise<SeatEnd> };

interface Seat {
  /** On the clock of `performance.now()`. */
  readonly sinceMs: number;
  /** When its job should make sure that the request stands in the line, on the clock of `performance.now()`. */
  readonly askAtMs: number;
  readonly leave: (end: SeatEnd) => void;
  /** A second job of the same request: duplicates of an event share a key. */
  readonly next: Seat | undefined;
}

/** One turn of a lane as served by this process. */
export interface ServedLane {
  readonly lcid: string;
  /** The request whose job carries this turn; null when maintenance does. */
  readonly carriedKey: string | null;
  /** The outcome of the carrier's own request, once it is committed. */
  carriedOutcome: Outcome | null;
  /** Whether a handoff will follow. Of the one that is on its way only its answer tells whether it is the last of this turn. */
  handsOffAgain: boolean;
}

interface LaneHere {
  readonly seats: Map<string, Seat>;
  /** A job of this process is on its way with the first `enter`. */
  approaching: boolean;
  /** How many jobs of this process stand at the lane through Redis. */
  standing: number;
  /** When the lane last got further, or began to be served or asked. */
  progressAtMs: number;
  /** Before that no seat is looked at for being overdue. */
  lookAtMs: number;
  served: ServedLane | null;
  /** Requests that were told to their jobs although an outcome was left for them in Redis, where it is not needed any more. */
  told: string[];
  /** Requests settled while no job of this process had a seat for them: two generations, so that memory stays bounded. */
  passed: Set<string>;
  passedBefore: Set<string>;
}

export interface LocalSeatsOptions {
  /** How long a job sits before it makes sure that its request really stands in the line. */
  readonly waitMs: number;
  /** Requests remembered per generation; default 4096. */
  readonly passedLimit?: number;
  /** Default `performance.now`. */
  readonly clock?: () => number;
}

/** How many times the wait a job may sit whose request is known to stand. */
const KNOWN_TO_STAND = 10;

/** Told requests that go with one handoff, as many as it takes. */
const MOST_TOLD = 1_000;

const FIRST: Way = { kind: "first" };
const KNOCK: Way = { kind: "knock" };
const TOLD: Way = { kind: "told" };
const STAND: Way = { kind: "stand" };

/**
 * Knows which lanes this process serves, is entering or stands at, and lets jobs of those lanes wait here instead of each
 * calling Redis. One `enter` then answers for every job of a lane that is on its way, and a batch's outcomes reach the jobs
 * of this process without a message. What waits here has a bound: the turn's own, `waitMs` without progress of the lane, and `waitMs`
 * before the job makes sure that its request stands.
 */
export class LocalSeats {
  readonly #waitMs: number;
  readonly #passedLimit: number;
  readonly #clock: () => number;
  readonly #lanes = new Map<string, LaneHere>();
  #closed = false;

  constructor({ waitMs, passedLimit = 4096, clock = () => performance.now() }: LocalSeatsOptions) {
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#passedLimit = passedLimit;
  }

  approach(lcid: string, key: string): Way {
    const lane = this.#lanes.get(lcid);
    if (lane === undefined) {
      this.#newLane(lcid).approaching = true;
      return FIRST;
    }
    if (lane.served !== null && (lane.passed.delete(key) || lane.passedBefore.delete(key))) {
      // What was left for the job must go with a handoff, or it stays behind.
      if (!lane.served.handsOffAgain) return KNOCK;
      lane.told.push(key);
      return TOLD;
    }
    if (lane.served !== null || lane.approaching) return this.#sit(lane, key, this.#waitMs);
    return stand(lane);
  }

  /** The lane told a job of ours to wait: it sits if this process serves the lane by now, and stands otherwise. */
  waits(lcid: string, key: string, way: "first" | "knock"): Way {
    const lane = this.#laneOrNew(lcid);
    // Its request is known to stand now, so it can sit far longer before it asks again.
    const answer = lane.served === null ? stand(lane) : this.#sit(lane, key, KNOWN_TO_STAND * this.#waitMs);
    if (way === "first") this.#arrive(lane, { kind: "again" });
    return answer;
  }

  /** The first one needs no turn, or got no answer: the others on the way leave their seats, as `end` says. */
  arrived(lcid: string, end: SeatEnd): void {
    const lane = this.#laneOrNew(lcid);
    this.#arrive(lane, end);
    this.#forgetIfEmpty(lcid, lane);
  }

  /** A job that stood at the lane has its answer. If that answer is a turn, `open` has been called before. */
  stood(lcid: string): void {
    const lane = this.#laneOrNew(lcid);
    lane.standing -= 1;
    this.#forgetIfEmpty(lcid, lane);
  }

  /** From here on this process serves the lane. */
  open(lcid: string, carriedKey: string | null): ServedLane {
    const served: ServedLane = { lcid, carriedKey, carriedOutcome: null, handsOffAgain: true };
    const lane = this.#laneOrNew(lcid);
    lane.approaching = false;
    lane.progressAtMs = this.#clock();
    lane.served = served;
    return served;
  }

  /**
   * Takes the committed requests that a job of this process waits for, so that their outcomes need neither message nor
   * memory in Redis, and answers with their keys and with what tells each of those jobs. Call it in the same step in which the
   * handoff is sent: a job that asks later is told that its request has been passed, once it is known that the turn goes on.
   * `delivered` are requests of earlier handoffs whose jobs were told so.
   */
  claim(
    served: ServedLane,
    settled: readonly Settled[],
  ): {
    own: readonly string[];
    delivered: readonly string[];
    deliveries: readonly (() => void)[];
  } {
    served.handsOffAgain = false;
    const lane = this.#lanes.get(served.lcid);
    if (lane !== undefined) lane.progressAtMs = this.#clock();
    const own: string[] = [];
    const deliveries: (() => void)[] = [];
    for (const one of settled) {
      const seat = lane?.seats.get(one.key);
      const carried = one.key === served.carriedKey;
      if (carried) served.carriedOutcome = one.outcome;
      if (seat !== undefined) {
        lane?.seats.delete(one.key);
        deliveries.push(() => leaveAll(seat, { kind: "settled", outcome: one.outcome }));
      }
      if (seat !== undefined || carried) own.push(one.key);
      else if (lane !== undefined) this.#remember(lane, one.key);
    }
    const delivered = lane?.told.splice(0, MOST_TOLD) ?? [];
    return { own, delivered, deliveries };
  }

  /** The handoff was answered with more requests. */
  goesOn(served: ServedLane): void {
    served.handsOffAgain = true;
  }

  /** Sends jobs that sit here for longer than `waitMs` to the lane: perhaps their request does not stand in it yet. */
  sendOverdue(served: ServedLane): void {
    const nowMs = this.#clock();
    const lane = this.#lanes.get(served.lcid);
    if (lane === undefined) return;
    if (nowMs < lane.lookAtMs) return;
    lane.lookAtMs = nowMs + this.#waitMs / 4;
    for (const [key, seat] of lane.seats) {
      if (nowMs < seat.askAtMs) continue;
      lane.seats.delete(key);
      leaveAll(seat, { kind: "knock" });
    }
  }

  /** Frees the slots of jobs that sit at a lane which got no further for as long as they sit, and for `waitMs` at least. */
  freeStill(): void {
    const nowMs = this.#clock();
    for (const lane of this.#lanes.values()) {
      if (nowMs - lane.progressAtMs < this.#waitMs) continue;
      for (const [key, seat] of lane.seats) {
        if (nowMs - seat.sinceMs < this.#waitMs) continue;
        lane.seats.delete(key);
        leaveAll(seat, { kind: "stepBack" });
      }
    }
  }

  /** The turn is over. A newer turn of the same lane, taken after this one's lease was lost, keeps the seats. */
  close(served: ServedLane, end: SeatEnd): void {
    const lane = this.#lanes.get(served.lcid);
    if (lane?.served !== served) return;
    lane.served = null;
    lane.told = [];
    lane.passed = new Set();
    lane.passedBefore = new Set();
    leaveEverySeat(lane, end);
    this.#forgetIfEmpty(served.lcid, lane);
  }

  /** The process stops: who sits steps back at once, and nobody sits down any more. Turns go on to their own end. */
  stepBackAll(): void {
    this.#closed = true;
    for (const lane of this.#lanes.values()) leaveEverySeat(lane, { kind: "stepBack" });
  }

  #sit(lane: LaneHere, key: string, restMs: number): Way {
    if (this.#closed) return { kind: "sit", end: Promise.resolve({ kind: "stepBack" }) };
    const sinceMs = this.#clock();
    const end = new Promise<SeatEnd>((leave) => {
      lane.seats.set(key, { sinceMs, askAtMs: sinceMs + restMs, leave, next: lane.seats.get(key) });
    });
    return { kind: "sit", end };
  }

  #arrive(lane: LaneHere, end: SeatEnd): void {
    lane.approaching = false;
    if (lane.served === null) leaveEverySeat(lane, end);
  }

  #remember(lane: LaneHere, key: string): void {
    if (lane.passed.size >= this.#passedLimit) {
      lane.passedBefore = lane.passed;
      lane.passed = new Set();
    }
    lane.passed.add(key);
  }

  #laneOrNew(lcid: string): LaneHere {
    const known = this.#lanes.get(lcid);
    if (known !== undefined) return known;
    return this.#newLane(lcid);
  }

  #newLane(lcid: string): LaneHere {
    const lane = emptyLane(this.#clock());
    this.#lanes.set(lcid, lane);
    return lane;
  }

  #forgetIfEmpty(lcid: string, lane: LaneHere): void {
    if (lane.served === null && !lane.approaching && lane.standing === 0) this.#lanes.delete(lcid);
  }
}

function emptyLane(nowMs: number): LaneHere {
  return {
    seats: new Map(),
    approaching: false,
    standing: 0,
    progressAtMs: nowMs,
    lookAtMs: 0,
    served: null,
    told: [],
    passed: new Set(),
    passedBefore: new Set(),
  };
}

function stand(lane: LaneHere): Way {
  lane.standing += 1;
  return STAND;
}

function leaveAll(first: Seat, end: SeatEnd): void {
  for (let seat: Seat | undefined = first; seat !== undefined; seat = seat.next) seat.leave(end);
}

function leaveEverySeat(lane: LaneHere, end: SeatEnd): void {
  for (const seat of lane.seats.values()) leaveAll(seat, end);
  lane.seats.clear();
}
