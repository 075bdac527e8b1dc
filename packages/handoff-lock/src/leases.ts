import type { LaneObservers } from "./contract.ts";
import type { LeaseLostError } from "./errors.ts";
import type { LaneScripts } from "./lane-scripts.ts";
import type { Lease } from "./lease.ts";

interface LeasesOptions {
  readonly scripts: LaneScripts;
  readonly leaseMs: number;
  readonly onLeaseLost: LaneObservers["onLeaseLost"];
}

/**
 * Every lease this process holds.
 *
 * 1. Renews all of them each third of the lease, by one timer, in one write.
 * 2. Ends a lease whose renewal met another token, and one whose deadline passed without a renewal.
 * 3. Leaves a lease alone while its holder hands off: that call renews by itself, and a renewal that arrives behind a
 *    release would look like a loss.
 */
export class Leases {
  readonly #scripts: LaneScripts;
  readonly #leaseMs: number;
  readonly #onLeaseLost: LaneObservers["onLeaseLost"];
  readonly #held = new Set<Lease>();
  readonly #handingOff = new Set<Lease>();
  readonly #renewing = new Set<Lease>();
  #nextRoundAtMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor({ scripts, leaseMs, onLeaseLost }: LeasesOptions) {
    this.#scripts = scripts;
    this.#leaseMs = leaseMs;
    this.#onLeaseLost = onLeaseLost;
  }

  hold(lease: Lease): void {
    this.#held.add(lease);
    if (this.#timer !== null) return;
    this.#nextRoundAtMs = performance.now() + this.#leaseMs / 3;
    this.#arm();
  }

  /** The turn is over; whatever a renewal still under way answers means nothing any more. */
  end(lease: Lease): void {
    this.#held.delete(lease);
    if (this.#held.size > 0 || this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  lose(lease: Lease, why: LeaseLostError["why"]): void {
    if (!this.#held.has(lease)) return;
    this.end(lease);
    lease.lose(why);
    this.#onLeaseLost?.(lease.lcid, why);
  }

  /** Ends every lease; answers with those it ended, whose locks are still to be dropped. */
  loseAll(why: LeaseLostError["why"]): readonly Lease[] {
    const leases = [...this.#held];
    for (const lease of leases) this.lose(lease, why);
    return leases;
  }

  /** Keeps renewals away while `handOff` is under way. */
  async whileHandingOff<T>(lease: Lease, handOff: () => Promise<T>): Promise<T> {
    this.#handingOff.add(lease);
    try {
      return await handOff();
    } finally {
      this.#handingOff.delete(lease);
    }
  }

  #arm(): void {
    let wakeAtMs = this.#nextRoundAtMs;
    // A lease in trouble ends between two rounds, and its signal should not be late.
    for (const lease of this.#held) wakeAtMs = Math.min(wakeAtMs, lease.deadlineMs());
    this.#timer = setTimeout(() => this.#tick(), Math.max(1, Math.ceil(wakeAtMs - performance.now())));
  }

  #tick(): void {
    this.#timer = null;
    const nowMs = performance.now();
    for (const lease of this.#held) {
      if (lease.deadlineMs() <= nowMs) this.lose(lease, "deadline");
    }
    if (nowMs >= this.#nextRoundAtMs) {
      this.#nextRoundAtMs = nowMs + this.#leaseMs / 3;
      for (const lease of this.#held) {
        if (!this.#handingOff.has(lease) && !this.#renewing.has(lease)) void this.#renew(lease);
      }
    }
    if (this.#held.size > 0 && this.#timer === null) this.#arm();
  }

  async #renew(lease: Lease): Promise<void> {
    const sentAtMs = performance.now();
    this.#renewing.add(lease);
    try {
      const args = [lease.token, this.#leaseMs];
      const reply = await this.#scripts.run("renew", { lcid: lease.lcid, args });
      if (Number(reply) === 1) lease.prove(sentAtMs);
      else this.lose(lease, "taken");
    } catch {
      // Unanswered is not lost: the next round asks again, and the deadline ends it if nothing answers until then.
    } finally {
      this.#renewing.delete(lease);
    }
  }
}
