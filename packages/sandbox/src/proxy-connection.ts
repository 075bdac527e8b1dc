import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type ProxyDirection = "toServer" | "toClient";

/** What happens to one chunk: `pass` it on, `drop` it and all that follows in its direction, or `cut` the connection. */
export type ProxyVerdict = "pass" | "drop" | "cut";

/** Asked for every chunk, in order within a direction. Answering nothing passes it. `connection` counts from 1. */
export type ChunkHook = (
  direction: ProxyDirection,
  chunk: Buffer,
  connection: number,
) => ProxyVerdict | undefined | Promise<ProxyVerdict | undefined>;

export interface ProxyRules {
  /** Asked anew for every chunk, so a change also meets connections that are open already. */
  delayMs(): number;
  verdict(direction: ProxyDirection, chunk: Buffer): Promise<ProxyVerdict>;
  /** Whether the line is dead in this direction at the moment. A dead line does not carry the end of a stream either. */
  isDropping(direction: ProxyDirection): boolean;
}

/** Bytes that may wait in one direction before its sender is no longer read. */
const PENDING_BYTES = 1 << 20;

/** A client's connection and the one to the server behind it. */
export class ProxyConnection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #rules: ProxyRules;
  readonly #lost = new Set<ProxyDirection>();
  #isOver = false;

  constructor(sockets: { client: Socket; server: Socket }, rules: ProxyRules, onOver: () => void) {
    this.#client = sockets.client;
    this.#server = sockets.server;
    this.#rules = rules;
    this.#carry("toServer", this.#client, this.#server);
    this.#carry("toClient", this.#server, this.#client);
    let open = 2;
    for (const socket of [this.#client, this.#server]) {
      socket.setNoDelay(true);
      socket.once("close", () => {
        open -= 1;
        if (open > 0) return;
        this.#isOver = true;
        onOver();
      });
    }
  }

  /** Whether something that one side sent has been swallowed, so that what follows can no longer be read. */
  get lostBytes(): boolean {
    return this.#lost.size > 0;
  }

  /** Ends both sides at once with a reset, as a machine does that does not know the connection. */
  reset(): void {
    this.#isOver = true;
    for (const socket of [this.#client, this.#server]) {
      // A socket that is about to end cannot be reset: libuv refuses, and Node then forgets the handle without closing it.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  #carry(direction: ProxyDirection, from: Socket, to: Socket): void {
    // A chain keeps the order although each chunk may wait for its delay and for the hook's answer.
    let tail = Promise.resolve();
    let pendingBytes = 0;
    from.on("data", (chunk) => {
      const dueMs = performance.now() + this.#rules.delayMs();
      pendingBytes += chunk.length;
      if (pendingBytes > PENDING_BYTES) from.pause();
      tail = tail.then(async () => {
        await this.#deliver({ direction, chunk, dueMs, to });
        pendingBytes -= chunk.length;
        if (pendingBytes <= PENDING_BYTES) from.resume();
      });
    });
    from.once("end", () => {
      const dueMs = performance.now() + this.#rules.delayMs();
      tail = tail.then(async () => {
        await waitFor(dueMs);
        if (!this.#losesEnd(direction)) to.end();
      });
    });
    from.on("error", () => {
      tail = tail.then(() => {
        if (!this.#losesEnd(direction)) this.reset();
      });
    });
  }

  /** The end of a stream travels as a packet too: on a dead line the other side never hears of it. */
  #losesEnd(direction: ProxyDirection): boolean {
    if (this.#isOver) return false;
    if (this.#rules.isDropping(direction)) this.#lost.add(direction);
    return this.#lost.has(direction);
  }

  async #deliver(parcel: {
    direction: ProxyDirection;
    chunk: Buffer;
    dueMs: number;
    to: Socket;
  }): Promise<void> {
    const { direction, chunk, dueMs, to } = parcel;
    await waitFor(dueMs);
    if (this.#isOver) return;
    const verdict = this.#lost.has(direction) ? "drop" : await this.#rules.verdict(direction, chunk);
    if (verdict === "cut") this.reset();
    if (verdict === "drop") this.#lost.add(direction);
    if (verdict !== "pass" || to.destroyed || !to.writable) return;
    await new Promise<void>((resolve) => {
      to.write(chunk, () => resolve());
    });
  }
}

async function waitFor(dueMs: number): Promise<void> {
  const leftMs = dueMs - performance.now();
  if (leftMs > 0) await sleep(leftMs);
}
