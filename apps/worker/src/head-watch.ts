/** A lane as a passing look found it: requests stand, and nobody holds it. */
export interface UnheldLane {
  readonly lcid: string;
  readonly headKey: string;
}

/**
 * Remembers the heads of lanes that nobody held, from one look to the next, and says which have stood still for too long.
 * Seats do not matter: a seat that nobody sits in any more looks just like one that is waited in.
 */
export class HeadWatch {
  readonly #stillMs: number;
  #seen = new Map<string, { readonly headKey: string; readonly sinceMs: number }>();
  #next = new Map<string, { readonly headKey: string; readonly sinceMs: number }>();

  constructor({ stillMs }: { stillMs: number }) {
    this.#stillMs = stillMs;
  }

  /** Whether this lane's head has been the same, and the lane unheld at each look, for `stillMs` and longer. */
  standsStill({ lcid, headKey }: UnheldLane, nowMs: number): boolean {
    const before = this.#next.get(lcid) ?? this.#seen.get(lcid);
    const since = before?.headKey === headKey ? before : { headKey, sinceMs: nowMs };
    this.#next.set(lcid, since);
    return nowMs - since.sinceMs >= this.#stillMs;
  }

  /** A look over all lanes is complete: what it did not meet is forgotten. */
  endRound(): void {
    this.#seen = this.#next;
    this.#next = new Map();
  }

  forget(): void {
    this.#seen.clear();
    this.#next.clear();
  }
}
