import type { Redis } from "ioredis";

type Send = (command: string, args: (string | number)[]) => Promise<unknown>;

/** A client whose every script is sent twice and whose second answer counts, as when the first one is lost on the way. */
export class Resending {
  readonly redis: Redis;
  on = true;
  #resent = 0;

  constructor(redis: Redis) {
    this.redis = redis;
    const send = redis.call.bind(redis) as Send;
    const sendTwice: Send = async (command, args) => {
      if (!this.on) return send(command, args);
      this.#resent += 1;
      await send(command, args);
      return send(command, args);
    };
    redis.call = sendTwice as typeof redis.call;
  }

  get resent(): number {
    return this.#resent;
  }
}
