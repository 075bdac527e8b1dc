import type { EventEnvelope } from "@junban/orders";
import type { ProcessTree, Sandbox } from "@junban/sandbox";
import type { Carrier, Contender, Ground } from "../contenders/contender.ts";

export interface LiveOptions {
  readonly sandbox: Sandbox;
  /** Part of every Redis key; another one each round. */
  readonly prefix: string;
  readonly processes?: number;
  /** Set for the process in addition to the contender's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** A database that already holds something; a fresh, migrated one by default. */
  readonly databaseUrl?: string;
  /** Events of other orders that are worked off before anything is measured, so that no contender pays for compiling. Default 2,000. */
  readonly warmUp?: number;
}

export interface Decision {
  readonly source: string;
  readonly id: string;
  readonly lcid: string;
  readonly seq: number;
  readonly outcome: string;
  /** Redis time at publication, and server time of the decision. */
  readonly publishedAtMs: number;
  readonly decidedAtMs: number;
}

/** A contender at work on fresh places: its processes, and both ends of its queue. */
export interface Live {
  readonly contender: Contender;
  readonly ground: Ground;
  readonly carrier: Carrier;
  readonly trees: readonly ProcessTree[];
  /** SIGSTOP to its processes: what is published now is a backlog when they go on. */
  freeze(): void;
  /** SIGCONT; answers `performance.now()` of that moment. */
  letGo(): number;
  /** Rows of `order_events` for these orders, in order of `seq`. */
  decisions(lcids: readonly string[]): Promise<readonly Decision[]>;
  /** CPU seconds since its start, of its processes, of Redis and of Postgres; null where the system does not tell. */
  cpuSeconds(): Promise<{ node: number; redis: number; postgres: number } | null>;
  residentBytes(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the contender on fresh places and warms it up. */
export declare function startLive(contender: Contender, options: LiveOptions): Promise<Live>;

/** What came of the events, in publish order: by the store's rows, against a fold of the published order. */
export declare function judge(
  live: Live,
  events: readonly EventEnvelope[],
): Promise<{ inversions: number; lost: number; doubled: number }>;
