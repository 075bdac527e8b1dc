import type { StandingRequest } from "@junban/handoff-lock";
import type { LaneResult, Outcome } from "@junban/order-store";
import { FAMILIES, familyOf } from "@junban/orders";
import type { Family } from "@junban/orders";
import { Counter, Gauge, Histogram } from "prom-client";
import type { Registry } from "prom-client";
import type { JobObserver } from "./job.ts";
import type { LaneObserver } from "./lane-server.ts";
import { SweepGauges } from "./sweep-gauges.ts";
import type { SweepReport } from "./sweeper.ts";

const LATENCY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const GROUP_LANES = [1, 2, 4, 8, 16, 32];
const GROUP_EVENTS = [1, 4, 16, 64, 128, 256, 512, 1024];

type Tally = Map<string, { readonly family: Family; readonly outcome: Outcome; count: number }>;

export interface FleetMetricsOptions {
  readonly registry: Registry;
  readonly poolInUse: () => number;
  readonly activeJobs: () => number;
  readonly turns: () => number;
  readonly sweeps: () => boolean;
  readonly mayEvict: () => boolean;
  /** Whether Redis refuses to hand out jobs. */
  readonly isRefused: () => boolean;
}

/**
 * What this process counts. Every label is one of a few fixed words, never an lcid, an id or a job, so the number of series
 * does not grow with the work. Figures about the whole fleet come from the one process that sweeps; the others show 0.
 */
export class FleetMetrics implements LaneObserver, JobObserver {
  readonly #registry: Registry;
  readonly #events: Counter<"family" | "outcome">;
  readonly #repeats: Counter<"family">;
  readonly #latency: Histogram;
  readonly #groupLanes: Histogram;
  readonly #groupEvents: Histogram;
  readonly #leasesLost: Counter<"why">;
  readonly #stepsBack: Counter;
  readonly #unusable: Counter;
  readonly #sweep: SweepGauges;

  constructor(options: FleetMetricsOptions) {
    const { registry, poolInUse, activeJobs, turns, sweeps, mayEvict, isRefused } = options;
    this.#registry = registry;
    const registers = [registry];
    const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
    const read = (name: string, help: string, value: () => number): void => {
      // The registry keeps it; `collect` is called at each scrape.
      const watched: Gauge = new Gauge({ name, help, registers, collect: () => watched.set(value()) });
    };
    const histogram = (name: string, help: string, buckets: number[]): Histogram =>
      new Histogram({ name, help, buckets, registers });

    this.#events = new Counter({
      name: "junban_events_total",
      help: "Events decided for the first time",
      labelNames: ["family", "outcome"],
      registers,
    });
    this.#repeats = new Counter({
      name: "junban_repeats_total",
      help: "Deliveries of events that had been decided before",
      labelNames: ["family"],
      registers,
    });
    this.#leasesLost = new Counter({
      name: "junban_leases_lost_total",
      help: "Turns that ended because their lease was gone",
      labelNames: ["why"],
      registers,
    });
    this.#latency = histogram("junban_apply_latency_seconds", "From publish to commit", LATENCY_SECONDS);
    this.#groupLanes = histogram("junban_commit_lanes", "Lanes in one transaction", GROUP_LANES);
    this.#groupEvents = histogram("junban_commit_events", "Events in one transaction", GROUP_EVENTS);
    this.#stepsBack = counter(
      "junban_steps_back_total",
      "Jobs put back because their lane stood still or of passing trouble",
    );
    this.#unusable = counter(
      "junban_unusable_jobs_total",
      "Jobs failed for good because they carry no usable envelope",
    );
    this.#sweep = new SweepGauges(registry);
    read("junban_pg_pool_in_use", "Postgres connections in use", poolInUse);
    read("junban_jobs_active", "Jobs in the slots of this process", activeJobs);
    read("junban_turns", "Lanes served by this process at this moment", turns);
    read("junban_sweeps", "1 while this process sweeps, and tells the fleet's figures", () =>
      Number(sweeps()),
    );
    read("junban_redis_may_evict", "1 while the policy of Redis lets it drop keys", () => Number(mayEvict()));
    read(
      "junban_redis_refuses",
      "1 while Redis answers and lets nothing be fetched, as when it is full",
      () => Number(isRefused()),
    );
    this.#startAtZero();
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  settled(_lcid: string, requests: readonly StandingRequest[], { settled }: LaneResult): void {
    // Once per batch and kind instead of once per event: a counter's labels cost more than all the rest of this.
    const tally: Tally = new Map();
    const nowMs = Date.now();
    for (const [index, { type, outcome, repeat }] of settled.entries()) {
      const family = familyOf(type);
      if (repeat && outcome !== "conflict") {
        this.#repeats.inc({ family });
        continue;
      }
      const name = `${family} ${outcome}`;
      const counted = tally.get(name);
      if (counted === undefined) tally.set(name, { family, outcome, count: 1 });
      else counted.count += 1;
      const publishedAtMs = requests[index]?.publishedAtMs;
      // Two clocks: Redis's when it was published, ours now. A little skew must not become a negative time.
      if (publishedAtMs !== undefined) this.#latency.observe(Math.max(0, nowMs - publishedAtMs) / 1000);
    }
    for (const { family, outcome, count } of tally.values()) this.#events.inc({ family, outcome }, count);
  }

  steppedBack(): void {
    this.#stepsBack.inc();
  }

  unusable(): void {
    this.#unusable.inc();
  }

  leaseLost(why: "taken" | "deadline"): void {
    this.#leasesLost.inc({ why });
  }

  group(lanes: number, events: number): void {
    this.#groupLanes.observe(lanes);
    this.#groupEvents.observe(events);
  }

  swept(report: SweepReport): void {
    this.#sweep.set(report);
  }

  /** Series that exist from the start, so that "no event failed" reads 0 and not "no data". */
  #startAtZero(): void {
    const outcomes: readonly Outcome[] = [
      "applied",
      "duplicate",
      "rejected",
      "deferred",
      "failed",
      "conflict",
    ];
    for (const family of FAMILIES) {
      this.#repeats.inc({ family }, 0);
      for (const outcome of outcomes) this.#events.inc({ family, outcome }, 0);
    }
    this.#leasesLost.inc({ why: "taken" }, 0);
    this.#leasesLost.inc({ why: "deadline" }, 0);
  }
}
