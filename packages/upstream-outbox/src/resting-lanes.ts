const SHORTEST_REST_MS = 100;
const LONGEST_REST_MS = 5_000;
/** Beyond so many at once it is no matter of single lanes any more. */
const MOST_LANES = 1_000;

/**
 * Orders whose lanes had no room: their rows are passed over for a while that doubles, so that they hold up nobody else and come
 * back in their own order.
 */
export class RestingLanes {
  readonly #lanes = new Map<string, { untilMs: number; restMs: number }>();

  /** False when there is no more room to remember one. */
  rest(lcid: string): boolean {
    const restMs = Math.min((this.#lanes.get(lcid)?.restMs ?? SHORTEST_REST_MS / 2) * 2, LONGEST_REST_MS);
    if (!this.#lanes.has(lcid) && this.#lanes.size >= MOST_LANES && !this.#forgetOne()) return false;
    this.#lanes.set(lcid, { untilMs: performance.now() + restMs, restMs });
    return true;
  }

  served(lcid: string): void {
    this.#lanes.delete(lcid);
  }

  /** The lcids to pass over now. */
  resting(): readonly string[] {
    const nowMs = performance.now();
    return [...this.#lanes].flatMap(([lcid, { untilMs }]) => (untilMs > nowMs ? [lcid] : []));
  }

  /** Until the first of them may be tried again; null when none rests. */
  nextInMs(): number | null {
    const nowMs = performance.now();
    const waits = [...this.#lanes.values()].map(({ untilMs }) => untilMs - nowMs).filter((ms) => ms > 0);
    return waits.length === 0 ? null : Math.min(...waits);
  }

  /** One whose rest is long over has no rows any more, or it would have been served or refused since. */
  #forgetOne(): boolean {
    const longAgoMs = performance.now() - LONGEST_REST_MS;
    for (const [lcid, { untilMs }] of this.#lanes) {
      if (untilMs < longAgoMs) return this.#lanes.delete(lcid);
    }
    return false;
  }
}
