import type { EventEnvelope } from "@junban/orders";
import { Random } from "./random.ts";
import { Storyteller } from "./story.ts";

export interface TrafficOptions {
  readonly seed: number;
  readonly orders: number;
  /** Exactly so many events come out. */
  readonly events: number;
  /** `uniform`: each order equally likely. `zipf`: the order of rank r with a weight of r^−s. */
  readonly skew: "uniform" | "zipf";
  /** Zipf's exponent s. Default 1.1. */
  readonly exponent?: number;
  /** Lcids are this and a number; number 1 is the busiest under `zipf`. Default `A-`. */
  readonly lcidPrefix?: string;
}

/** A stream for measuring: nothing repeated, early or flawed, every order's story as long as chance makes it. */
export function trafficOf(options: TrafficOptions): readonly EventEnvelope[] {
  const { seed, orders, events, skew, exponent = 1.1, lcidPrefix = "A-" } = options;
  const random = new Random(seed, "traffic", skew);
  const pickRank = rankPicker(orders, skew === "zipf" ? exponent : 0);
  const readers = new Map<number, StoryReader>();
  return Array.from({ length: events }, () => {
    const rank = pickRank(random.fraction());
    let reader = readers.get(rank);
    if (reader === undefined) {
      reader = new StoryReader(seed, `${lcidPrefix}${rank + 1}`);
      readers.set(rank, reader);
    }
    return reader.next();
  });
}

/** Reads an endless story event by event. */
class StoryReader {
  readonly #teller: Storyteller;
  #read = 0;

  constructor(seed: number, lcid: string) {
    this.#teller = new Storyteller({ seed, lcid, lasting: true });
  }

  next(): EventEnvelope {
    while (this.#teller.items.length <= this.#read) this.#teller.continue();
    const item = this.#teller.items[this.#read];
    if (item === undefined) throw new RangeError("A scene told nothing");
    this.#read += 1;
    return item.event;
  }
}

/** Maps a fraction to a rank by bisecting the cumulated weights. */
function rankPicker(orders: number, exponent: number): (fraction: number) => number {
  const bounds = new Float64Array(orders);
  let total = 0;
  for (let rank = 0; rank < orders; rank += 1) {
    total += (rank + 1) ** -exponent;
    bounds[rank] = total;
  }
  return (fraction) => {
    const wanted = fraction * total;
    let low = 0;
    let high = orders - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((bounds[middle] as number) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
