export interface AttemptsOptions {
  /** So many at once. */
  readonly most: number;
  /** After them, one each so many milliseconds. */
  readonly everyMs: number;
  /** Seam for tests, milliseconds that only grow. */
  readonly nowMs?: () => number;
}

interface Bucket {
  left: number;
  atMs: number;
}

/** Names and addresses remembered; an attacker who has more is held back by the number of passwords that are tried at once. */
const MOST_BUCKETS = 10_000;

/** How often somebody may still try: a bucket that fills steadily. */
export class Attempts {
  readonly #options: Required<AttemptsOptions>;
  readonly #buckets = new Map<string, Bucket>();

  constructor({ nowMs = () => performance.now(), ...options }: AttemptsOptions) {
    this.#options = { nowMs, ...options };
  }

  /** Takes one and answers 0, or takes none and answers after how many milliseconds there will be one. */
  take(who: string): number {
    const bucket = this.#bucketOf(who);
    if (bucket.left < 1) return Math.ceil((1 - bucket.left) * this.#options.everyMs);
    bucket.left -= 1;
    return 0;
  }

  /** Gives one back: it was no guess. */
  giveBack(who: string): void {
    const bucket = this.#bucketOf(who);
    bucket.left = Math.min(this.#options.most, bucket.left + 1);
  }

  #bucketOf(who: string): Bucket {
    const { most, everyMs, nowMs } = this.#options;
    const now = nowMs();
    const before = this.#buckets.get(who) ?? { left: most, atMs: now };
    const bucket = { left: Math.min(most, before.left + (now - before.atMs) / everyMs), atMs: now };
    // Deleted first, so that the map stays in the order of use.
    this.#buckets.delete(who);
    this.#buckets.set(who, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}
