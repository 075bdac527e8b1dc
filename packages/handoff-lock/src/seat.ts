/** Why a wait ended. */
export type Call =
  | { readonly kind: "settled"; readonly value: string }
  /** Ask Redis again: the lane may be free, or nobody said anything for a while. */
  | { readonly kind: "ask" }
  /** The lane shows no progress; the slot is better used elsewhere. */
  | { readonly kind: "giveUp" }
  | { readonly kind: "cancelled" };

interface SeatOptions {
  readonly lcid: string;
  readonly key: string;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  readonly nowMs: number;
}

/** One caller waiting for one request. A call that comes while nobody listens is kept, the weightiest one. */
export class Seat {
  readonly lcid: string;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly takenAtMs: number;
  #askedAtMs: number;
  #kept: Call | null = null;
  #answer: ((call: Call) => void) | null = null;

  constructor({ lcid, key, signal, nowMs }: SeatOptions) {
    this.lcid = lcid;
    this.key = key;
    this.takenAtMs = nowMs;
    this.#askedAtMs = nowMs;
    this.signal = signal;
  }

  /** When this seat last began to ask Redis, on the clock of `performance.now()`. */
  get askedAtMs(): number {
    return this.#askedAtMs;
  }

  get waiting(): boolean {
    return this.#answer !== null;
  }

  get cancelled(): boolean {
    return this.#kept?.kind === "cancelled";
  }

  /** The outcome, once it has come. */
  get outcome(): string | null {
    return this.#kept?.kind === "settled" ? this.#kept.value : null;
  }

  asking(nowMs: number): void {
    this.#askedAtMs = nowMs;
  }

  /** Resolves with the next call; at once when one was kept. */
  next(): Promise<Call> {
    const kept = this.#kept;
    if (kept !== null) {
      // An outcome and an end stay true however often they are looked at.
      if (kept.kind === "ask") this.#kept = null;
      return Promise.resolve(kept);
    }
    return new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  call(call: Call): void {
    const answer = this.#answer;
    if (answer !== null) {
      this.#answer = null;
      if (call.kind === "settled" || call.kind === "cancelled") this.#kept = call;
      answer(call);
      return;
    }
    if (this.#kept === null || this.#kept.kind === "ask" || call.kind === "settled") this.#kept = call;
  }
}
