import type { Random } from "@junban/order-stories";
import type { Stage } from "../stage.ts";

/** What one strike did, told once its cause is over or, where a process was hit, once it is down. */
export interface Strike {
  /** A sentence for people, such as "worker 3 was killed". */
  readonly says: string;
  /**
   * From when recovery counts, on the clock of `performance.now()`: the moment a process was hit, or the moment a service was
   * back.
   */
  readonly sinceMs: number;
  /** The lane whose holder was hit, where it was one lane's. */
  readonly lcid?: string;
  /** Where the bound is another one than the fault's. */
  readonly boundMs?: number;
  /** What is to be done once the fleet has recovered, such as giving the fleet its lost worker back. */
  readonly aftercare?: () => Promise<void>;
}

export interface Fault {
  readonly name: string;
  /** What it does, as the rest of "It …". */
  readonly does: string;
  /** Longest time until every lane that stood at the strike has moved and new events are decided, milliseconds. */
  readonly boundMs: number;
  /** False where the line itself is lost: then first decisions may run against publish order, and are only counted. */
  readonly keepsOrder: boolean;
  /** How often it strikes at least, however short the run is. */
  readonly leastStrikes: number;
  /** A calm time between two strikes, milliseconds. */
  readonly calmMs: number;
  /** What has to stand around the fleet for it. Default nothing. */
  readonly edges?: readonly Edge[];
  strike(stage: Stage, chance: Chance): Promise<Strike>;
}

/**
 * `news out`: relays and a subscriber. `gateway in`: gateways, through which every producer sends. `upstream in`: a producer's own
 * Postgres, in which every event is committed, and forwarders.
 */
export type Edge = "news out" | "gateway in" | "upstream in";

/** What a strike may depend on: the seed's chance, how often this fault struck before, and how long the run is. */
export interface Chance {
  readonly random: Random;
  readonly struck: number;
  readonly runSeconds: number;
  readonly signal: AbortSignal;
}

export const LEASE_MS = 2_000;
/** A short lease, and the limits of Postgres that have to stay below it. */
export const LEASE_SETTINGS = {
  JUNBAN_LEASE_MS: String(LEASE_MS),
  JUNBAN_STATEMENT_TIMEOUT_MS: "1500",
  JUNBAN_LOCK_TIMEOUT_MS: "1000",
  JUNBAN_IDLE_TX_TIMEOUT_MS: "1500",
} as const;
/** A killed or frozen holder costs its lanes its lease and this much. */
const AFTER_LEASE_MS = 2_000;

export const HOLDER_BOUND_MS = LEASE_MS + AFTER_LEASE_MS;
export const SERVICE_BOUND_MS = 5_000;

export const CALM_MS = 500;
