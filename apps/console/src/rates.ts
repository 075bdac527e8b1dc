import type { Glance } from "@junban/operations";

/** How fast the fleet goes, from counts over time. Null while it is measured, or while Postgres does not tell. */
export interface Speed {
  readonly decidedPerSecond: number | null;
  readonly appliedPerSecond: number | null;
  /** Applied a second, from one look to the next, oldest first. */
  readonly lately: readonly number[];
}

interface Count {
  readonly atMs: number;
  readonly decided: number;
  readonly applied: number;
}

/** Over which the shown rate is taken: long enough to be calm, short enough to follow. */
const WINDOW_MS = 10_000;
const MOST_COUNTS = 61;
/** Counts further apart than this say nothing of how it goes now. */
const LONGEST_GAP_MS = 90_000;

export class Rates {
  #counts: readonly Count[] = [];

  after({ atMs, store }: Glance): Speed {
    if (store.kind === "unknown") return { ...UNKNOWN, lately: this.#lately() };
    const { decided, applied } = store.value;
    if (decided === null || applied === null) return { ...UNKNOWN, lately: [] };
    const last = this.#counts.at(-1);
    // Counts only rise, unless it is another database now.
    const isSame = last !== undefined && atMs - last.atMs <= LONGEST_GAP_MS && decided >= last.decided;
    this.#counts = [...(isSame ? this.#counts : []), { atMs, decided, applied }].slice(-MOST_COUNTS);
    return { ...this.#speed(), lately: this.#lately() };
  }

  #speed(): Omit<Speed, "lately"> {
    const last = this.#counts.at(-1);
    if (last === undefined) return UNKNOWN;
    const from = this.#counts.find(({ atMs }) => last.atMs - atMs <= WINDOW_MS + 1_000) ?? last;
    const seconds = (last.atMs - from.atMs) / 1_000;
    if (seconds <= 0) return UNKNOWN;
    return {
      decidedPerSecond: (last.decided - from.decided) / seconds,
      appliedPerSecond: Math.max(0, last.applied - from.applied) / seconds,
    };
  }

  #lately(): readonly number[] {
    return this.#counts.slice(1).map((count, index) => {
      const before = this.#counts[index] ?? count;
      return (
        Math.max(0, count.applied - before.applied) / Math.max(0.001, (count.atMs - before.atMs) / 1_000)
      );
    });
  }
}

const UNKNOWN = { decidedPerSecond: null, appliedPerSecond: null } as const;
