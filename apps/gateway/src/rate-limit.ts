export interface RateLimitOptions {
  readonly perMinute: number;
  /** Seam for tests, milliseconds that only grow. */
  readonly nowMs?: () => number;
}

/** How many events a sender may still send: a bucket that holds a minute's worth and fills steadily. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #nowMs: () => number;
  readonly #buckets = new Map<object, { left: number; atMs: number }>();

  constructor({ perMinute, nowMs = () => performance.now() }: RateLimitOptions) {
    this.#perMinute = perMinute;
    this.#nowMs = nowMs;
  }

  /**
   * Takes as many from a sender's bucket and answers 0; or takes nothing and answers after how many milliseconds there will be
   * enough for all of them. A batch that is larger than a whole bucket needs a full one.
   *
   * @param already how many of those wanted were taken before. They are spent, and a further attempt needs them again.
   */
  take(sender: object, wanted: number, { already = 0 }: { readonly already?: number } = {}): number {
    const nowMs = this.#nowMs();
    const before = this.#buckets.get(sender) ?? { left: this.#perMinute, atMs: nowMs };
    const perMs = this.#perMinute / 60_000;
    const left = Math.min(this.#perMinute, before.left + (nowMs - before.atMs) * perMs);
    const whole = Math.min(wanted, this.#perMinute);
    const cost = whole - already;
    const isEnough = left >= cost;
    this.#buckets.set(sender, { left: isEnough ? left - cost : left, atMs: nowMs });
    return isEnough ? 0 : (whole - left) / perMs;
  }
}
