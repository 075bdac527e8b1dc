import { LeaseLostError } from "./errors.ts";

interface LeaseOptions {
  readonly lcid: string;
  readonly token: string;
  /** On the clock of `performance.now()`: before the step that took the lane was sent. */
  readonly startedAtMs: number;
  readonly leaseMs: number;
}

/** How long one turn surely lasts, and the signal that says when it may not. */
export class Lease {
  readonly lcid: string;
  readonly token: string;
  readonly startedAtMs: number;
  readonly #leaseMs: number;
  #provenAtMs: number;
  #lostBecause: LeaseLostError["why"] | null = null;
  // Made when first asked for: most turns are short, and controllers are not free.
  #controller: AbortController | null = null;

  constructor({ lcid, token, startedAtMs, leaseMs }: LeaseOptions) {
    this.lcid = lcid;
    this.token = token;
    this.startedAtMs = startedAtMs;
    this.#leaseMs = leaseMs;
    this.#provenAtMs = startedAtMs;
  }

  get lostBecause(): LeaseLostError["why"] | null {
    return this.#lostBecause;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#lostBecause !== null) this.#abort(this.#lostBecause);
    }
    return this.#controller.signal;
  }

  deadlineMs(): number {
    return this.#provenAtMs + this.#leaseMs;
  }

  /** Redis confirmed our token to a call sent at this moment, and counts the lease from its arrival, which was later. */
  prove(sentAtMs: number): void {
    this.#provenAtMs = Math.max(this.#provenAtMs, sentAtMs);
  }

  lose(why: LeaseLostError["why"]): void {
    if (this.#lostBecause !== null) return;
    this.#lostBecause = why;
    this.#abort(why);
  }

  #abort(why: LeaseLostError["why"]): void {
    this.#controller?.abort(new LeaseLostError({ lcid: this.lcid, why }));
  }
}
