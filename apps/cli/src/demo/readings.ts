import { setTimeout as pause } from "node:timers/promises";
import type { LaneReport } from "@junban/handoff-lock";
import type { StoreSummary } from "@junban/order-store";
import type { Services } from "../services.ts";
import type { HotLane } from "./hot-lane.ts";

/** What the servers say about the run so far. */
export interface Reading {
  readonly summary: StoreSummary;
  /** Events that have a row. */
  readonly decided: number;
  readonly lane: LaneReport;
}

export interface ReadingsOptions {
  readonly services: Pick<Services, "store">;
  readonly lane: HotLane;
}

/** Rates kept for the curve, one a second. */
const RATES_KEPT = 30;
const LANE_EVERY_MS = 150;
const COUNTS_EVERY_MS = 1_000;
/** Counting takes longer the more there is; it may take this share of the time at most. */
const COUNTING_SHARE = 0.25;

/**
 * Asks the servers again and again while the demo runs. An answer that does not come is left out: the view then shows the
 * latest one, and whether all is well is found out by others.
 */
export class Readings {
  readonly #options: ReadingsOptions;
  readonly #end = new AbortController();
  #summary: StoreSummary | null = null;
  #lane: LaneReport | null = null;
  #decided = 0;
  #countedAtMs = 0;
  #rates: readonly number[] = [];
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: ReadingsOptions) {
    this.#options = options;
  }

  get latest(): Reading | null {
    if (this.#summary === null || this.#lane === null) return null;
    return { summary: this.#summary, decided: this.#decided, lane: this.#lane };
  }

  /** Events that got a row, per second, oldest first. */
  get rates(): readonly number[] {
    return this.#rates;
  }

  start(): void {
    this.#countedAtMs = performance.now();
    this.#running = Promise.all([
      this.#again(LANE_EVERY_MS, async () => this.#lookAtLane()),
      this.#again(COUNTS_EVERY_MS, async () => this.#count()),
    ]);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #again(everyMs: number, look: () => Promise<void>): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      const startedAtMs = performance.now();
      await look().catch(() => undefined);
      const tookMs = performance.now() - startedAtMs;
      const restMs = Math.max(everyMs - tookMs, tookMs / COUNTING_SHARE - tookMs, 0);
      await pause(Math.min(restMs, 3 * everyMs), undefined, { signal }).catch(() => undefined);
    }
  }

  async #lookAtLane(): Promise<void> {
    this.#lane = await this.#options.lane.inspect();
  }

  async #count(): Promise<void> {
    const summary = await this.#options.services.store().summary();
    const nowMs = performance.now();
    const decided = Object.values(summary.eventsByOutcome).reduce((total, count) => total + count, 0);
    const seconds = Math.max(0.001, (nowMs - this.#countedAtMs) / 1_000);
    this.#rates = [...this.#rates, (decided - this.#decided) / seconds].slice(-RATES_KEPT);
    this.#summary = summary;
    this.#decided = decided;
    this.#countedAtMs = nowMs;
  }
}
