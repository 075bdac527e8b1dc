/**
 * Runs many small tasks a portion a turn of the event loop, in the order in which they came. What the sockets brought in
 * meanwhile is heard between two portions, so that the next transaction of a busy lane need not wait until the last
 * of a hundred jobs has been told that it may end.
 */
export class Portions {
  readonly #size: number;
  readonly #tasks: (() => void)[] = [];
  #isScheduled = false;

  /** @param size tasks a turn; default 128. */
  constructor({ size = 128 }: { readonly size?: number } = {}) {
    this.#size = size;
  }

  /** The tasks must not throw. They run soon, never in this very step. */
  add(tasks: readonly (() => void)[]): void {
    this.#tasks.push(...tasks);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#tasks.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      for (const task of this.#tasks.splice(0, this.#size)) task();
      this.#schedule();
    });
  }
}
