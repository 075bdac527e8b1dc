import type { Redis } from "ioredis";
import type { Word } from "./replies.ts";
import { readWord } from "./replies.ts";

interface HintsOptions {
  /** Need not subscribe again by itself. */
  readonly subscriber: Redis;
  /** Whether closing ends the connection too. */
  readonly owned: boolean;
  readonly channel: string;
  readonly onWord: (word: Word) => void;
  /** Called when words may have been missed, once new ones arrive again. */
  readonly onGap: () => void;
}

/** The one subscription of this process. What it brings are hints: everything here is also found out by asking. */
export class Hints {
  readonly #subscriber: Redis;
  readonly #owned: boolean;
  readonly #channel: string;
  readonly #onWord: (word: Word) => void;
  readonly #onGap: () => void;
  #subscribing: Promise<void> | null = null;
  #subscribed = false;
  #closed = false;

  constructor({ subscriber, owned, channel, onWord, onGap }: HintsOptions) {
    this.#subscriber = subscriber;
    this.#owned = owned;
    this.#channel = channel;
    this.#onWord = onWord;
    this.#onGap = onGap;
    // The client reports each failed attempt to reconnect; a missing hint costs a poll, so there is nothing to say twice.
    if (owned) subscriber.on("error", () => {});
  }

  get subscribed(): boolean {
    return this.#subscribed;
  }

  /** Resolves once hints arrive, or once it is clear that they do not at present. Asked again, it tries again. */
  subscribe(): Promise<void> {
    this.#subscribing ??= this.#begin();
    return this.#subscribing;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#subscriber.off("message", this.#hear);
    this.#subscriber.off("ready", this.#resume);
    if (this.#owned) this.#subscriber.disconnect();
    else if (this.#subscribed) this.#subscriber.unsubscribe(this.#channel).catch(() => {});
  }

  async #begin(): Promise<void> {
    this.#subscriber.on("message", this.#hear);
    this.#subscriber.on("ready", this.#resume);
    try {
      await this.#subscriber.subscribe(this.#channel);
      this.#subscribed = true;
    } catch {
      this.#subscriber.off("message", this.#hear);
      this.#subscriber.off("ready", this.#resume);
      this.#subscribing = null;
    }
  }

  readonly #hear = (channel: string, message: string): void => {
    if (channel !== this.#channel) return;
    const word = readWord(message);
    if (word !== null) this.#onWord(word);
  };

  /**
   * Subscribes again on each new connection. Left to the client itself, a connection that ends before this is answered
   * would be a rejection nobody handles.
   */
  readonly #resume = (): void => {
    if (this.#subscribed) this.#subscriber.subscribe(this.#channel).then(this.#onGap, () => {});
  };
}
