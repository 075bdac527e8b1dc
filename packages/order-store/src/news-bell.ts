/** At most so often, however many transactions commit: each ring is a small transaction of its own. */
const AT_MOST_EVERY_MS = 50;

/**
 * Tells whoever passes news on that there is some. Apart from the transactions that write it: a transaction that notifies
 * commits behind every other that does. A ring that fails is made up for by the listener's own looking.
 */
export class NewsBell {
  readonly #notify: () => Promise<unknown>;
  #timer: NodeJS.Timeout | undefined;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #isRinging = false;
  #isClosed = false;

  constructor(notify: () => Promise<unknown>) {
    this.#notify = notify;
  }

  /** Soon; many calls in a row become one. */
  ring(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    const waitMs = Math.max(0, this.#lastAtMs + AT_MOST_EVERY_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#lastAtMs = performance.now();
      // One that is still on its way says the same, and must not pile up in front of everybody else's questions.
      if (this.#isRinging) return;
      this.#isRinging = true;
      this.#notify()
        .catch(() => undefined)
        .finally(() => {
          this.#isRinging = false;
        });
    }, waitMs).unref();
  }

  /** A step that rings first. */
  ringing<Value>(step: (value: Value) => void): (value: Value) => void {
    return (value) => {
      this.ring();
      step(value);
    };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
