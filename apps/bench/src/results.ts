/** What the workloads measure, one shape a workload. Every `…Ms` is milliseconds; a null was not measured or cannot be. */

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly node: string;
  readonly postgres: string;
  readonly redis: string;
  readonly system: string;
}

/** One workload, run: a row a contender or an arm, medians of the rounds, and ratios. */
export interface Run<Row> {
  readonly workload: string;
  readonly events: number;
  readonly seed: number;
  readonly rounds: number;
  readonly machine: Machine;
  readonly results: readonly Row[];
  /** For backlogs junban divided by the peer of that name; otherwise what the workload's own file says. */
  readonly ratios: Readonly<Record<string, number>>;
}

/** hot, zipf, uniform: how fast a backlog is worked off, and what came of it. */
export interface BacklogRow {
  readonly name: string;
  readonly eventsPerSecond: number;
  /** From the moment the backlog was let go to the decision of an event. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** Sums of all rounds. Null where nothing is applied, and `lost` also where the round was cut off before the backlog was empty. */
  readonly inversions: number | null;
  readonly lost: number | null;
  readonly doubled: number | null;
  /** Jobs left when the round was cut off; 0 when the backlog was worked off. The largest of the rounds. */
  readonly left: number;
  /** CPU seconds per 1,000 events: of the contender's own process, and of the two servers. */
  readonly cpuSecondsPer1000: number | null;
  readonly redisCpuSecondsPer1000: number | null;
  readonly postgresCpuSecondsPer1000: number | null;
  /** Counted in a round of its own, between the process and the servers. Calls are commands sent; trips are times it waited. */
  readonly redisCallsPerEvent: number | null;
  readonly redisTripsPerEvent: number | null;
  readonly postgresTripsPerEvent: number | null;
  readonly postgresTripsPerTransaction: number | null;
}

/** latency: publish → decision at a share of what the contender's own backlog rate was. */
export interface LatencyRow {
  readonly name: string;
  readonly load: number;
  readonly offeredPerSecond: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly inversions: number;
  readonly lost: number;
}

/**
 * publish: how fast events are put in, so many at once: 1 is one call after another of one event each, 256 are so many such
 * calls under way, 2,000 are one call of so many.
 */
export interface PublishRow {
  readonly name: string;
  readonly at: number;
  readonly eventsPerSecond: number;
}

/**
 * fairness: single events of other orders, without a flood on one, while one that was published is worked off, and while one is
 * still being published. Ratios to quiet: `p50` and `p99` of flooded, `p50Flooding` and `p99Flooding`.
 */
export interface FairnessRow {
  readonly arm: "quiet" | "flooded" | "flooding";
  readonly flood: number;
  readonly others: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** history: throughput on what has a long past ÷ what has a short one, as ratios `order`, `inbox` and `open`. */
export interface HistoryRow {
  readonly arm: "order" | "inbox" | "open";
  /** Past events of the order, rows in the inbox, or open orders. */
  readonly past: number;
  readonly eventsPerSecond: number;
}

/** growth: the same workload with more processes, and with more events. */
export interface GrowthRow {
  readonly workload: string;
  readonly processes: number;
  readonly events: number;
  readonly eventsPerSecond: number;
  readonly inversions: number;
  readonly lost: number;
}

/** memory: resident memory of one worker after so many events. Ratio `resident`: most events ÷ fewest. */
export interface MemoryRow {
  readonly events: number;
  readonly residentBytes: number;
}

/** relay: events a worker applied a second, and a relay passed on afterwards. Ratio `relay`: the second ÷ the first. */
export interface RelayRow {
  readonly arm: "worker" | "relay";
  readonly eventsPerSecond: number;
}

/**
 * gateway: events put in over HTTP, and with the publisher in the producer's own process, so many a call, and how long a call took.
 * Ratios of the gateway to the publisher, as `rate at 1` and `p99 at 1`.
 */
export interface GatewayRow {
  readonly door: "sdk" | "gateway";
  readonly at: number;
  readonly eventsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** recovery: the holder of a key is SIGKILLed while others of the same key wait; a second process is there. */
export interface RecoveryRow {
  readonly name: string;
  readonly settings: "defaults" | "best";
  /** What the settings are, in a few words. */
  readonly note: string;
  /** How long a dead holder can keep the key by these settings (a lease, a lock's duration); null where nothing says so. */
  readonly leaseMs: number | null;
  /** From the kill to the next decision of that key; null: not within `withinMs`. */
  readonly movesAgainAfterMs: number | null;
  readonly withinMs: number;
  /** Events of the killed key that were decided in the end, of so many. */
  readonly decided: number;
  readonly of: number;
  readonly inversions: number;
  readonly doubled: number;
}

/** retries: one event of a key fails once by passing trouble; what happens to those behind it. */
export interface RetryRow extends RecoveryRow {
  /** Whether events of the key published after the failing one were decided before it. */
  readonly overtaken: number;
}
