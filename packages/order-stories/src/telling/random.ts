/**
 * A small deterministic source of chance. `Math.random` cannot be seeded, and a story that cannot be told
 * again cannot be debugged, so everything random in this package comes from here.
 *
 * The generator is sfc32 (Chris Doty-Humphrey, public domain): 128 bits of state, a period of at least 2^32.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  /** Streams with different labels are independent, so an order's story does not change when others are added. */
  constructor(seed: number, ...labels: readonly (string | number)[]) {
    const words = seedWords(`${seed}/${labels.join("/")}`);
    this.#a = words();
    this.#b = words();
    this.#c = words();
    this.#counter = 1;
    // The first outputs still resemble the seed.
    for (let round = 0; round < 12; round += 1) this.word();
  }

  /** A whole number of 32 bits. */
  word(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** 0 ≤ fraction < 1. */
  fraction(): number {
    return this.word() / 4_294_967_296;
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** Waiting times of independent arrivals: mostly short, now and then long. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.fraction());
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.whole(0, items.length - 1)];
    if (item === undefined) throw new RangeError("Nothing to pick from");
    return item;
  }

  /** An index, each as likely as its weight; undefined when no weight is above zero. */
  weighted(weights: readonly number[]): number | undefined {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    if (total <= 0) return undefined;
    let rest = this.fraction() * total;
    for (const [index, weight] of weights.entries()) {
      rest -= weight;
      if (rest < 0) return index;
    }
    return weights.findLastIndex((weight) => weight > 0);
  }

  /** `count` different indexes below `size`, ascending. */
  sample(size: number, count: number): number[] {
    const indexes = Array.from({ length: size }, (_, index) => index);
    const taken = Math.min(size, count);
    for (let index = 0; index < taken; index += 1) {
      const other = this.whole(index, size - 1);
      [indexes[index], indexes[other]] = [indexes[other] as number, indexes[index] as number];
    }
    return indexes.slice(0, taken).toSorted((left, right) => left - right);
  }
}

/** FNV-1a over the text, then one avalanche step a word, so that seeds 1 and 2 share nothing. */
function seedWords(text: string): () => number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return () => {
    hash = (hash + 0x9e3779b9) | 0;
    let word = hash ^ (hash >>> 16);
    word = Math.imul(word, 0x21f0aaad);
    word ^= word >>> 15;
    word = Math.imul(word, 0x735a2d97);
    return (word ^ (word >>> 15)) >>> 0;
  };
}
