import assert from "node:assert/strict";
import { same } from "../support/same.ts";
import { CAP } from "./lane-steps.ts";

/** What Redis holds of one lane at one moment. */
export interface Snapshot {
  readonly lock: string | null;
  /** Below 0 when nobody holds the lane. */
  readonly lockLeftMs: number;
  readonly line: readonly string[];
  readonly bodies: Readonly<Record<string, string>>;
  readonly seats: Readonly<Record<string, string>>;
  readonly outcomes: Readonly<Record<string, string>>;
  readonly tries: number;
}

/** What one step had the right to do to a lane; a lane it did not touch has a deed without anything in it. */
export interface Deed {
  /** The token of a call that only the holder may make. */
  readonly token?: string;
  /** The token of the turn that the step was given. */
  readonly took?: string;
  /** The key whose wait is over by this step. */
  readonly stoodUp?: string;
  readonly joins?: readonly string[];
  /** Requests that are settled or withdrawn by this step. */
  readonly removes?: readonly string[];
  /** Those of them whose outcome the caller delivers itself. */
  readonly own?: readonly string[];
  readonly handedOut?: readonly string[];
  /** Most requests it asked for. */
  readonly limit?: number;
  /** The holder gave the lane up. */
  readonly letsGo?: "released" | "yielded" | "left";
  readonly queues?: boolean;
  /** The step broke or removed something that no script would. */
  readonly accident?: boolean;
}

export interface Surroundings {
  /** What live processes heard of this lane through the step. */
  readonly words: readonly (readonly string[])[];
  readonly isLive: (channel: string) => boolean;
  /** Whether somebody is on the way for a request: its job, or the sweeper if it never had one. */
  readonly isExpected: (key: string) => boolean;
}

/**
 * Watches one lane from outside and asserts I1 to I5 by what it sees, step by step. It knows nothing of how a script works;
 * what exactly each step should do is the model's business.
 */
export class LaneWitness {
  #before: Snapshot;
  /** When each standing request joined, as a number that grows. */
  readonly #joined = new Map<string, number>();
  /** The joins whose request has been handed out at least once. */
  readonly #handedOut = new Set<number>();
  #joins = 0;
  #lastHandedOut = 0;

  constructor(empty: Snapshot) {
    this.#before = empty;
  }

  get lane(): Snapshot {
    return this.#before;
  }

  see(after: Snapshot, deed: Deed, around: Surroundings): void {
    const before = this.#before;
    this.#before = after;
    checkI1(before, after, deed);
    checkI2(before, after, deed, around);
    this.#checkI3(before, after, deed);
    checkI4(before, after, deed, around);
    checkI5(before, after, deed);
  }

  /** I3: handed out in line order, each first time after all that joined earlier; never again once it is settled. */
  #checkI3(before: Snapshot, after: Snapshot, deed: Deed): void {
    const { joins = [], removes = [], handedOut, limit } = deed;
    const [stood, stand] = [standing(before), standing(after)];
    for (const key of stand) {
      const mayStand = stood.includes(key) || joins.includes(key);
      assert(mayStand, `I3: ${key} stands in line although nobody queued or entered it`);
    }
    const [fresh, wanted] = [stand, joins].map((keys) => keys.filter((key) => !before.line.includes(key)));
    same("I3: requests join in the order in which they were queued", fresh, uniqueOf(wanted, stand));
    for (const key of removes) {
      assert(!stand.includes(key), `I3: ${key} is settled and stands in line all the same`);
    }
    this.#number(before, after, deed);
    const order = stand.map((key) => this.#joined.get(key)!);
    same(
      "I3: the line is in the order in which its requests joined",
      order,
      order.toSorted((a, b) => a - b),
    );
    if (handedOut === undefined) return;
    same("I3: the first of the line are handed out, in its order", handedOut, after.line.slice(0, limit));
    same("I3: each of them once", [...new Set(handedOut)], handedOut);
    for (const number of handedOut.map((key) => this.#joined.get(key)!)) {
      if (this.#handedOut.has(number)) continue;
      this.#handedOut.add(number);
      assert(number > this.#lastHandedOut, "I3: a request is handed out that a later one overtook");
      this.#lastHandedOut = number;
    }
  }

  #number(before: Snapshot, after: Snapshot, { joins = [], accident = false }: Deed): void {
    for (const key of this.#joined.keys()) if (!after.line.includes(key)) this.#joined.delete(key);
    const stood = standing(before);
    let last = 0;
    for (const key of standing(after)) {
      const number = this.#joined.get(key);
      // An entry whose body was lost and came back keeps its place, unless the line was mended or lost that place meanwhile.
      const cameBack = accident || (joins.includes(key) && !stood.includes(key));
      const isBack = number !== undefined && cameBack && number < last;
      if (number === undefined || isBack) {
        this.#joins += 1;
        this.#joined.set(key, this.#joins);
      }
      last = this.#joined.get(key)!;
    }
  }
}

/** Each key once, and only those that stand: a call may name a key twice, and a refused one names some for nothing. */
function uniqueOf(keys: readonly string[] = [], stand: readonly string[]): string[] {
  return [...new Set(keys)].filter((key) => stand.includes(key));
}

/** Entries with a body, each once: anything else is lost already, and goes when the lane is next touched. */
function standing({ line, bodies }: Snapshot): string[] {
  return [...new Set(line)].filter((key) => key in bodies);
}

/** I1: a script with a token that is not in the lock changes nothing, and nobody takes a lane that another holds. */
function checkI1(before: Snapshot, after: Snapshot, { token, took, letsGo, accident }: Deed): void {
  if (token !== undefined && token !== before.lock) {
    const [was, is] = [
      { ...before, lockLeftMs: 0 },
      { ...after, lockLeftMs: 0 },
    ];
    same("I1: a token that is not in the lock changes nothing", is, was);
    assert(after.lockLeftMs <= before.lockLeftMs, "I1: a token that is not in the lock prolongs nothing");
  }
  if (before.lock === after.lock || accident === true) return;
  const taken = before.lock === null && after.lock === took;
  const givenUp = before.lock === token && after.lock === null && letsGo !== undefined;
  assert(taken || givenUp, `I1: the lane went from ${before.lock} to ${after.lock}`);
}

/** I2: a request leaves a lane only settled, withdrawn, or lost with its lane, and its outcome is told or kept. */
function checkI2(before: Snapshot, after: Snapshot, deed: Deed, { words, isLive }: Surroundings): void {
  const { removes = [], own = [], accident } = deed;
  if (accident === true) return;
  const stand = new Set(standing(after));
  for (const key of standing(before).filter((stood) => !stand.has(stood))) {
    assert(removes.includes(key), `I2: ${key} left the line, neither settled nor withdrawn`);
    if (own.includes(key)) continue;
    const seat = before.seats[key];
    const isTold = words.some(([kind, , ...rest]) => kind === "settled" && rest.includes(key));
    const isHeard = seat !== undefined && isLive(seat);
    assert(isHeard ? isTold : key in after.outcomes, `I2: the outcome of ${key} reaches nobody`);
  }
}

/** I4: if requests stand and nobody holds the lane, a live seat was woken, or somebody is on the way. */
function checkI4(before: Snapshot, after: Snapshot, deed: Deed, around: Surroundings): void {
  const { removes = [], stoodUp, letsGo, accident } = deed;
  const stand = standing(after);
  if (accident !== true && stand.length > 0) {
    for (const [key, channel] of Object.entries(before.seats)) {
      const isOver = removes.includes(key) || key === stoodUp || !around.isLive(channel);
      assert(isOver || key in after.seats, `I4: the seat of ${key} is gone, and its process was not told`);
    }
  }
  if (after.lock !== null || stand.length === 0) return;
  for (const key of stand) assert(around.isExpected(key), `I4: nobody will come for ${key}`);
  if (letsGo === undefined) return;
  const isWoken = around.words.some(([kind]) => kind === "wake");
  const hasLiveSeat = Object.values(after.seats).some((channel) => around.isLive(channel));
  assert(isWoken || letsGo !== "yielded", "I4: the lane was yielded to nobody");
  assert(isWoken || !hasLiveSeat, "I4: the lane was given up, and no waiter was woken");
}

/** I5: `queue` never takes a line beyond its cap. */
function checkI5(before: Snapshot, after: Snapshot, { queues }: Deed): void {
  const grew = after.line.length > before.line.length;
  assert(queues !== true || !grew || after.line.length <= CAP, "I5: the line is longer than its cap");
}
