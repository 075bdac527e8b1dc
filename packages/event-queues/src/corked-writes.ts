import type { Redis } from "ioredis";

/**
 * Lets everything that one turn of the event loop sends leave in one write to the socket. With hundreds of jobs ending at
 * once, writing to the socket is otherwise among the dearest things a consumer does.
 */
export class CorkedWrites {
  readonly #client: Redis;
  #last: (() => void)[] = [];
  #isCorked = false;

  constructor(client: Redis) {
    this.#client = client;
  }

  corkThisTurn(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    const { stream } = this.#client;
    // Before the first connection there is no socket.
    stream?.cork();
    setImmediate(() => {
      for (const send of this.#last.splice(0)) send();
      this.#isCorked = false;
      stream?.uncork();
    });
  }

  /** Sends at the end of this turn, in the same write. `send` must not throw. */
  atTheEnd(send: () => void): void {
    this.#last.push(send);
    this.corkThisTurn();
  }
}
