import type { Family } from "@junban/orders";

export interface IncomingJob {
  /** BullMQ's id, unique within the family. */
  readonly id: string;
  readonly family: Family;
  /** The job's name, by convention the event's type. */
  readonly name: string;
  /** What the job carries, parsed; whatever a producer put there. */
  readonly data: unknown;
  /** How often this job was delayed before. */
  readonly stepsBack: number;
}

/** How a processor ends a job. */
export type JobEnd =
  | { readonly kind: "completed" }
  /** Put back; it will be fetched again after `delayMs`. */
  | { readonly kind: "delayed"; readonly delayMs: number }
  /** Fails for good: kept, bounded, for people. */
  | { readonly kind: "unusable"; readonly reason: string };
