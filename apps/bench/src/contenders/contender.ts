import type { EventEnvelope } from "@junban/orders";

/** What every contender of a round is given: throwaway places that nobody used before, and limits that are the same for all. */
export interface Ground {
  /** A migrated database of the order store; contenders that keep jobs in Postgres keep them here too. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Prefix of every Redis key of the round. */
  readonly prefix: string;
  /** Jobs in hand at once, in the one process: four times the slots of one family. A contender that does better with another number sets `BENCH_CONCURRENCY` in its `env`. */
  readonly concurrency: number;
  /** Postgres connections of the order store. */
  readonly poolSize: number;
}

/** One setting, and why it is what it is. */
export interface Setting {
  readonly name: string;
  readonly value: string;
  readonly why: string;
  /** Where the contender's own documentation advises it, as an address or a file of its package; null for a default left alone. */
  readonly source: string | null;
}

/** One way of applying published events, run as a process of its own. */
export interface Contender {
  readonly name: string;
  /** Package and exact version, such as "groupmq 1.1.0". */
  readonly version: string;
  /** One sentence for a table. */
  readonly what: string;
  readonly settings: readonly Setting[];
  /** What its documentation promises about the events of one key. */
  readonly promises: "publish order" | "one at a time" | "nothing";
  /** Whether it applies the events, so that the store can be asked what came of them. */
  readonly applies: boolean;
  /** The process: a compiled script, what is set for it beside the ground, and a line it prints once it takes jobs. */
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  readonly startedLine: RegExp;
  /** The producer's end, in the process of the bench. */
  open(ground: Ground): Promise<Carrier>;
}

/** The producer's end of one contender: it puts events in and sees how many are left. */
export interface Carrier {
  /** Puts the events in, in this order, in the contender's own fastest way that keeps it; ends when they are stored. */
  publish(events: readonly EventEnvelope[]): Promise<void>;
  /** Jobs that have not ended: waiting, delayed, or in hand. Those that failed for good are not among them. */
  left(): Promise<number>;
  close(): Promise<void>;
}
