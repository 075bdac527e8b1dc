import type { Glance } from "@junban/operations";

/** How fast the fleet goes. Null while it is measured, or while Postgres does not tell. */
export interface Speed {
  readonly decidedPerSecond: number | null;
  readonly appliedPerSecond: number | null;
  /** Applied a second at each look of the last minutes, oldest first. */
  readonly lately: readonly number[];
}

/** How far the numbers of events had come at a look. */
interface Mark {
  readonly atMs: number;
  readonly newest: number;
}

/** Over which the rate is taken: long enough to be calm, short enough to follow. */
const WINDOW_MS = 10_000;
/** Looks further apart than this say nothing of how it goes now. */
const LONGEST_GAP_MS = 90_000;
const MOST_LATELY = 60;

/**
 * Rates from what was committed between two looks about ten seconds apart: the earlier one tells up to which number events had come, the
 * later one counts the rows above it.
 */
export class Rates {
  #marks: readonly Mark[] = [];
  #lately: readonly number[] = [];

  /** From where the next look is to count; null while there is nothing to begin at. */
  markAt(nowMs: number): Mark | null {
    const within = (ms: number): Mark | undefined => this.#marks.find(({ atMs }) => nowMs - atMs <= ms);
    return within(WINDOW_MS + 1_000) ?? within(LONGEST_GAP_MS) ?? null;
  }

  /** @param from what `markAt` answered before this look. */
  after({ atMs, store }: Glance, from: Mark | null): Speed {
    if (store.kind === "unknown") return { ...UNKNOWN, lately: this.#lately };
    const { newest, since } = store.value;
    const seconds = from === null ? 0 : (atMs - from.atMs) / 1_000;
    // Numbers only rise, unless it is another database now.
    const isSame = from !== null && newest !== null && newest >= from.newest;
    const kept = isSame ? this.#marks.filter((mark) => mark.atMs >= from.atMs) : [];
    this.#marks = newest === null ? [] : [...kept, { atMs, newest }];
    if (!isSame || since === null || seconds <= 0) {
      this.#lately = isSame ? this.#lately : [];
      return { ...UNKNOWN, lately: this.#lately };
    }
    const appliedPerSecond = since.applied / seconds;
    this.#lately = [...this.#lately, appliedPerSecond].slice(-MOST_LATELY);
    return { decidedPerSecond: since.decided / seconds, appliedPerSecond, lately: this.#lately };
  }
}

const UNKNOWN = { decidedPerSecond: null, appliedPerSecond: null } as const;
