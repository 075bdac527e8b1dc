/** Whoever is forgotten is only looked at a little sooner. */
const MOST_ORDERS = 10_000;

/** Since when each order of which updates wait has not moved, as far as this process has seen. */
export class StandingOrders {
  readonly #orders = new Map<string, { readonly due: number | null; readonly sinceMs: number }>();

  /** How long the order has been seen to stand at the version that is due, or null where another consumer is at it. */
  stoodMs(lcid: string, { due }: { readonly due: number | null }): number {
    const nowMs = performance.now();
    const known = this.#orders.get(lcid);
    if (known !== undefined && known.due === due) return nowMs - known.sinceMs;
    this.#orders.delete(lcid);
    const [oldest] = this.#orders.keys();
    if (oldest !== undefined && this.#orders.size >= MOST_ORDERS) this.#orders.delete(oldest);
    this.#orders.set(lcid, { due, sinceMs: nowMs });
    return 0;
  }

  moved(lcid: string): void {
    this.#orders.delete(lcid);
  }
}
