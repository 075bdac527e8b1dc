import type { LaneReport } from "@junban/handoff-lock";
import type { StoreGauges } from "@junban/order-store";
import { HeadWatch } from "./head-watch.ts";
import type { LaneServer } from "./lane-server.ts";
import type { PassingTrouble } from "./passing-trouble.ts";
import type { FleetLogger, LaneUpkeep, OrderUpkeep, ServedTurn } from "./ports.ts";

/** What a round found, for metrics. */
export interface SweepReport {
  readonly deepestLane: number;
  /** Requests in all lanes, those being served included. */
  readonly standing: number;
  /** Null when it was not their turn. */
  readonly gauges: StoreGauges | null;
}

const allOf = (figure: number): StoreGauges => ({
  held: figure,
  heldDueSoon: figure,
  halted: figure,
  failed: figure,
  alerts: figure,
  overCaptures: figure,
  cancelledShipments: figure,
  outboxUnpublished: figure,
  outboxLagMs: figure,
  outboxParked: figure,
});

/** What a process says that does not sweep: another speaks for the fleet. */
const NOTHING_TO_SAY: SweepReport = { deepestLane: 0, standing: 0, gauges: allOf(0) };

/** Without an answer from Postgres: an old figure would look like a true one. */
const NOT_KNOWN = allOf(Number.NaN);

export interface SweeperOptions {
  readonly lanes: LaneUpkeep;
  /** Lanes of a prefix of their own, so that no order's lcid can meet the sweeper's. */
  readonly maintenance: Pick<LaneUpkeep, "enter">;
  readonly store: OrderUpkeep;
  readonly server: LaneServer;
  readonly trouble: PassingTrouble;
  readonly leaseMs: number;
  /** How long an outcome waits in Redis for its job before it is cleared, milliseconds. */
  readonly keepOutcomesMs: number;
  readonly logger: FleetLogger;
  readonly onRound: (report: SweepReport) => void;
  /** Between 0 and 1; default `Math.random`. */
  readonly random?: () => number;
}

const SWEEPER_LANE = "sweeper";
const LOOKS_AT_ONCE = 8;
const ORDERS_PER_PAGE = 100;
const PAGES_PER_ROUND = 10;
const GAUGES_EVERY_MS = 15_000;

/**
 * The process behind every handoff. One in the whole fleet sweeps at a time, because it holds the turn of the sweeper's own lane
 * for as long as it lives; when it vanishes its lease lapses and another takes over. Its duties, each order on its own:
 *
 * 1. Serve lanes in which requests stand unheld with the same head for two leases: their jobs are lost or were never made.
 * 2. Mend lanes whose line and bodies do not match.
 * 3. End deferrals that are due, and let go on what was released half-way.
 * 4. Decide events that an older build could not read and this one can.
 * 5. Clear outcomes that no job came for.
 */
export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #heads: HeadWatch;
  #turn: ServedTurn | null = null;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();
  #wake: (() => void) | undefined;
  #clearOutcomesAtMs = 0;
  #gaugesAtMs = 0;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#heads = new HeadWatch({ stillMs: 2 * options.leaseMs });
  }

  /** True while this process is the one that sweeps. */
  get leads(): boolean {
    return this.#turn !== null && !this.#turn.signal.aborted;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Ends after the order in hand; leaves the sweeper's lane to another process. Early and double calls are harmless. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.#running;
    const turn = this.#turn;
    this.#turn = null;
    await turn?.leave();
  }

  async #run(): Promise<void> {
    const { leaseMs, random = Math.random } = this.#options;
    while (!this.#stopped) {
      try {
        if (await this.#takeLead()) await this.#round();
        else this.#options.onRound(NOTHING_TO_SAY);
      } catch (error) {
        // The next round finds everything again. Redis or Postgres away have lines of their own; anything else has only this one.
        this.#options.logger.warn({ error }, "a sweep was cut short");
        this.#options.onRound({ deepestLane: Number.NaN, standing: Number.NaN, gauges: NOT_KNOWN });
      }
      await this.#pause(leaseMs * (0.25 + random() / 4));
    }
  }

  async #takeLead(): Promise<boolean> {
    if (this.leads) return true;
    this.#heads.forget();
    this.#turn = null;
    const entry = await this.#options.maintenance.enter(SWEEPER_LANE);
    if (entry.kind !== "turn") return false;
    this.#turn = entry.turn;
    return true;
  }

  async #round(): Promise<void> {
    const { store, trouble, onRound } = this.#options;
    if (trouble.postgresAway) {
      // Lines stand in Redis: how many events wait for Postgres is told while they do.
      onRound({ ...(await this.#lookAtLanes()), gauges: NOT_KNOWN });
      return;
    }
    await this.#keepOrders(
      "expire",
      (page) => store.dueHeld(page),
      (lcid) => store.expireHeld(lcid),
    );
    await this.#keepOrders(
      "release",
      (page) => store.stuckHalted(page),
      (lcid) => store.releaseHalted(lcid),
    );
    await this.#keepOrders(
      "redecide",
      (page) => store.unsupported(page),
      (lcid) => store.redecideUnsupported(lcid),
    );
    const { deepestLane, standing } = await this.#lookAtLanes();
    onRound({ deepestLane, standing, gauges: await this.#gauges() });
  }

  /** Takes each order's lane, does one thing to the order, and serves what stands in the lane before leaving it. */
  async #keepOrders(
    what: string,
    find: (page: { limit: number; after?: string }) => Promise<readonly string[]>,
    keep: (lcid: string) => Promise<number>,
  ): Promise<void> {
    let page: { limit: number; after?: string } = { limit: ORDERS_PER_PAGE };
    for (let pages = 0; pages < PAGES_PER_ROUND && !this.#stopped; pages += 1) {
      const lcids = await find(page);
      for (const lcid of lcids) {
        if (this.#stopped) return;
        await this.#eachOnItsOwn(lcid, what, () => this.#serveLane(lcid, () => keep(lcid)));
      }
      const last = lcids.at(-1);
      if (last === undefined || lcids.length < ORDERS_PER_PAGE) return;
      page = { limit: ORDERS_PER_PAGE, after: last };
    }
  }

  async #lookAtLanes(): Promise<Pick<SweepReport, "deepestLane" | "standing">> {
    const nowMs = performance.now();
    const clearOutcomes = nowMs >= this.#clearOutcomesAtMs;
    let deepestLane = 0;
    let standing = 0;
    for await (const names of this.#options.lanes.scan()) {
      const beganMs = performance.now();
      await eachBounded(names, LOOKS_AT_ONCE, async (lcid) => {
        if (this.#stopped) return;
        await this.#eachOnItsOwn(lcid, "look", async () => {
          const report = await this.#options.lanes.inspect(lcid);
          deepestLane = Math.max(deepestLane, report.depth);
          standing += report.depth;
          await this.#lookAt(report, clearOutcomes);
        });
      });
      if (this.#stopped || !this.leads) return { deepestLane, standing };
      // Four parts rest to one part work, so that a sweep over many lanes is never what Redis is busy with.
      await this.#pause(Math.min(1000, 4 * (performance.now() - beganMs)));
    }
    this.#heads.endRound();
    if (clearOutcomes) this.#clearOutcomesAtMs = nowMs + this.#options.keepOutcomesMs / 4;
    return { deepestLane, standing };
  }

  async #lookAt(report: LaneReport, clearOutcomes: boolean): Promise<void> {
    const { lanes, logger, trouble, keepOutcomesMs } = this.#options;
    const { lcid, depth, holder, leaseLeftMs, headKey, consistent } = report;
    if (clearOutcomes && report.outcomes > 0) await lanes.sweepOutcomes(lcid, keepOutcomesMs);
    if (trouble.postgresAway) return;
    // A lock without a lease was not taken by a worker; entering the lane gives it one.
    if (holder !== null && leaseLeftMs > 0) return;
    if (!consistent) {
      logger.warn({ lcid, depth }, "a lane's line and bodies did not match; mending it");
      await this.#serveLane(lcid, null);
    } else if (headKey !== null && this.#heads.standsStill({ lcid, headKey }, performance.now())) {
      logger.info({ lcid, depth }, "nobody came for a lane; serving it");
      await this.#serveLane(lcid, null);
    }
  }

  /** A busy lane is passed over: whoever serves it is doing what the sweeper would, and the next round comes by again. */
  async #serveLane(lcid: string, first: (() => Promise<unknown>) | null): Promise<void> {
    const entry = await this.#options.lanes.enter(lcid);
    if (entry.kind !== "turn") return;
    try {
      await first?.();
    } finally {
      await this.#options.server.serve(entry.turn, null);
    }
  }

  /** One order's trouble is its own: the sweep goes on with the next. */
  async #eachOnItsOwn(lcid: string, what: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#options.logger.warn({ lcid, what, error }, "the sweeper could not do its work on an order");
    }
  }

  async #gauges(): Promise<StoreGauges | null> {
    const nowMs = performance.now();
    if (nowMs < this.#gaugesAtMs) return null;
    this.#gaugesAtMs = nowMs + GAUGES_EVERY_MS;
    return this.#options.store.gauges();
  }

  async #pause(ms: number): Promise<void> {
    if (this.#stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

async function eachBounded<Item>(
  items: readonly Item[],
  atOnce: number,
  step: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const walkers = Array.from({ length: Math.min(atOnce, items.length) }, async () => {
    for (const item of left) await step(item);
  });
  await Promise.all(walkers);
}
