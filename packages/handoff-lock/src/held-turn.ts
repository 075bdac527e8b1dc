import assert from "node:assert/strict";
import type { Handoff, HandOffOptions, Settlement, StandingRequest, Turn } from "./contract.ts";
import type { LaneScripts } from "./lane-scripts.ts";
import type { Lease } from "./lease.ts";
import type { Leases } from "./leases.ts";
import { isSoundHandoff, readHandoff } from "./replies.ts";
import type { Settings } from "./settings.ts";
import { MAX_BATCH } from "./settings.ts";

interface HeldTurnOptions {
  readonly scripts: LaneScripts;
  readonly leases: Leases;
  readonly settings: Settings;
  readonly lease: Lease;
  readonly tries: number;
  readonly requests: readonly StandingRequest[];
}

/** A turn as this process sees it, from the moment the lane was taken until it is released, yielded, left or lost. */
export class HeldTurn implements Turn {
  readonly tries: number;
  readonly requests: readonly StandingRequest[];
  readonly #scripts: LaneScripts;
  readonly #leases: Leases;
  readonly #settings: Settings;
  readonly #lease: Lease;
  #over = false;
  #handingOff = false;

  constructor({ scripts, leases, settings, lease, tries, requests }: HeldTurnOptions) {
    this.tries = tries;
    this.requests = requests;
    this.#scripts = scripts;
    this.#leases = leases;
    this.#settings = settings;
    this.#lease = lease;
    leases.hold(lease);
  }

  get lcid(): string {
    return this.#lease.lcid;
  }

  get token(): string {
    return this.#lease.token;
  }

  get signal(): AbortSignal {
    return this.#lease.signal;
  }

  get startedAtMs(): number {
    return this.#lease.startedAtMs;
  }

  deadlineMs(): number {
    return this.#lease.deadlineMs();
  }

  async handOff(settlements: readonly Settlement[], options: HandOffOptions = {}): Promise<Handoff> {
    assert(!this.#handingOff, "one handOff of a turn at a time");
    if (this.#over) return { kind: "lost" };
    if (this.#lease.lostBecause !== null) {
      // What was settled is decided already; whoever serves the lane next finds that out.
      await this.leave();
      return { kind: "lost" };
    }
    const args = this.#handoffArgs(settlements, options);
    this.#handingOff = true;
    try {
      return await this.#leases.whileHandingOff(this.#lease, async () => this.#sendHandoff(args));
    } finally {
      this.#handingOff = false;
    }
  }

  async leave(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    this.#leases.end(this.#lease);
    if (this.#lease.lostBecause === "taken") return;
    try {
      const args = [this.token, this.#settings.laneTtlMs];
      await this.#scripts.run("leave", { lcid: this.lcid, args });
    } catch {
      // Without an answer the lock goes by itself when the lease lapses; there is nothing better to do about it.
    }
  }

  async #sendHandoff(args: readonly (string | number)[]): Promise<Handoff> {
    const sentAtMs = performance.now();
    const call = { lcid: this.lcid, args, isSound: isSoundHandoff };
    const reply = readHandoff(await this.#scripts.run("handoff", call));
    if (reply.kind === "next") {
      this.#lease.prove(sentAtMs);
      return reply;
    }
    // A turn that was left meanwhile is over already, and losing it is no news.
    if (reply.kind === "lost" && !this.#over) this.#leases.lose(this.#lease, "taken");
    this.#over = true;
    this.#leases.end(this.#lease);
    return reply;
  }

  #handoffArgs(settlements: readonly Settlement[], options: HandOffOptions): (string | number)[] {
    const { leaseMs, laneTtlMs, batch } = this.#settings;
    const limit = options.batch ?? batch;
    assert(Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_BATCH, `batch: 1 to ${MAX_BATCH}`);
    assert(settlements.length <= MAX_BATCH, `at most ${MAX_BATCH} settlements in one handoff`);
    const own = new Set(options.own);
    const ownKeys: string[] = [];
    const others: string[] = [];
    for (const { key, value } of settlements) {
      if (own.has(key)) ownKeys.push(key);
      else others.push(key, value);
    }
    const { delivered = [] } = options;
    assert(delivered.length <= MAX_BATCH, `at most ${MAX_BATCH} delivered keys in one handoff`);
    const yieldFlag = options.yieldTurn === true ? 1 : 0;
    const flags = [yieldFlag, ownKeys.length, delivered.length];
    return [this.token, leaseMs, laneTtlMs, limit, ...flags, ...ownKeys, ...delivered, ...others];
  }
}
