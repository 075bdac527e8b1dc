import { createLanes } from "@junban/handoff-lock";
import type { Entry, LaneRequest, Lanes, LanesOptions, Standing, Turn } from "@junban/handoff-lock";
import type { Redis } from "ioredis";

type LabOptions = Omit<LanesOptions, "redis" | "prefix">;

/** Several processes' worth of lanes on one Redis, all closed together. */
export class Lab {
  readonly prefix: string;
  readonly #connect: () => Redis;
  readonly #defaults: LabOptions;
  readonly #open: Lanes[] = [];
  #lanes = 0;

  constructor(place: { readonly prefix: string; readonly connect: () => Redis }, defaults: LabOptions = {}) {
    this.prefix = place.prefix;
    this.#connect = place.connect;
    this.#defaults = defaults;
  }

  /** A process of its own: its own connection, subscription and timers. */
  process(options: LabOptions & { readonly redis?: Redis } = {}): Lanes {
    const lanes = createLanes({ redis: this.#connect(), prefix: this.prefix, ...this.#defaults, ...options });
    this.#open.push(lanes);
    return lanes;
  }

  /** The name of a lane nobody has used yet. */
  lane(): string {
    this.#lanes += 1;
    return `order-${this.#lanes}`;
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((lanes) => lanes.close()));
  }
}

export const NEVER: AbortSignal = new AbortController().signal;

export function request(key: string): LaneRequest {
  return { key, body: `body of ${key}` };
}

export function requests(...keys: readonly string[]): LaneRequest[] {
  return keys.map(request);
}

export function numbered(count: number, letter = "r"): LaneRequest[] {
  return Array.from({ length: count }, (_, index) => request(`${letter}${index}`));
}

export function turnOf(answer: Entry | Standing): Turn {
  if (answer.kind !== "turn") throw new Error(`expected a turn, got ${answer.kind}`);
  return answer.turn;
}

export function keysOf(items: readonly { readonly key: string }[]): string[] {
  return items.map(({ key }) => key);
}

export function settle(...keys: readonly string[]): { key: string; value: string }[] {
  return keys.map((key) => ({ key, value: `outcome of ${key}` }));
}

/** Settles everything handed out until the lane is given up; answers the keys in the order they were handed out. */
export async function serve(turn: Turn): Promise<string[]> {
  const served: string[] = [];
  let { requests: next } = turn;
  for (;;) {
    served.push(...keysOf(next));
    const answer = await turn.handOff(settle(...keysOf(next)));
    if (answer.kind !== "next") return served;
    next = answer.requests;
  }
}
