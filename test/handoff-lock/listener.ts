import type { Redis } from "ioredis";

/** A process that waits: a subscription and everything it heard, in order. */
export class Listener {
  readonly channel: string;
  readonly heard: string[][] = [];
  readonly #subscriber: Redis;
  readonly #hear: (from: string, message: string) => void;

  private constructor(subscriber: Redis, channel: string) {
    this.#subscriber = subscriber;
    this.channel = channel;
    this.#hear = (from, message) => {
      if (from === channel) this.heard.push(JSON.parse(message) as string[]);
    };
    subscriber.on("message", this.#hear);
  }

  static async on(subscriber: Redis, channel: string): Promise<Listener> {
    const listener = new Listener(subscriber, channel);
    await subscriber.subscribe(channel);
    return listener;
  }

  /** Everything published before this call has been heard once it resolves: answers and messages share one stream. */
  async settled(): Promise<string[][]> {
    await this.#subscriber.ping();
    return this.heard;
  }

  async die(): Promise<void> {
    this.#subscriber.off("message", this.#hear);
    await this.#subscriber.unsubscribe(this.channel);
  }
}
