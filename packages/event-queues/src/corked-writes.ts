import type { Redis } from "ioredis";

/**
 * Lets everything that one turn of the event loop sends leave in one write to the socket. With hundreds of jobs ending at
 * once, writing to the socket is otherwise among the dearest things a consumer does.
 */
export class CorkedWrites {
  readonly #client: Redis;
  #isCorked = false;

  constructor(client: Redis) {
    this.#client = client;
  }

  corkThisTurn(): void {
    const { stream } = this.#client;
    if (this.#isCorked || stream === undefined) return;
    this.#isCorked = true;
    stream.cork();
    setImmediate(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }
}
