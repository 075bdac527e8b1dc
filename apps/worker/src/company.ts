export interface CompanyOptions {
  /** Milliseconds. */
  readonly lastsMs: number;
  /** Default `performance.now`. */
  readonly clock?: () => number;
}

/**
 * Whether a process serves several lanes, now or a moment ago, or is about to. A lane that has the process to itself may take its
 * time; one that has not makes all others wait for whatever it does in one go.
 */
export class Company {
  readonly #lastsMs: number;
  readonly #clock: () => number;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor({ lastsMs, clock = () => performance.now() }: CompanyOptions) {
    this.#lastsMs = lastsMs;
    this.#clock = clock;
  }

  /** @param turns lanes served at this moment. */
  look(turns: number): void {
    if (turns > 1) this.expect();
  }

  /** Another lane will be served soon. */
  expect(): void {
    this.#untilMs = this.#clock() + this.#lastsMs;
  }

  get isThere(): boolean {
    return this.#clock() < this.#untilMs;
  }
}
