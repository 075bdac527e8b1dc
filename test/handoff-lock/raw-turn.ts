import type { Handoff, HandOffOptions, Settlement } from "@junban/handoff-lock";
import { readHandoff } from "../../packages/handoff-lock/src/replies.ts";
import type { RawLane } from "./raw-lane.ts";

/** A turn that a waiter was given script by script: every call goes to Redis, whatever its holder should know by then. */
export class RawTurn {
  readonly token: string;
  readonly #lane: RawLane;

  constructor({ lane, token }: { readonly lane: RawLane; readonly token: string }) {
    this.#lane = lane;
    this.token = token;
  }

  async handOff(settlements: readonly Settlement[], options: HandOffOptions = {}): Promise<Handoff> {
    const { own = [], ...rest } = options;
    const others = Object.fromEntries(
      settlements.filter(({ key }) => !own.includes(key)).map(({ key, value }) => [key, value]),
    );
    return readHandoff(await this.#lane.handoff({ token: this.token, own, others, ...rest }));
  }

  async leave(): Promise<void> {
    await this.#lane.leave(this.token);
  }
}
