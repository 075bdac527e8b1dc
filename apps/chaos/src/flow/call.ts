import type { EventEnvelope } from "@junban/orders";

/** What a publishing process is asked to publish, in this order. */
export interface Call {
  readonly number: number;
  readonly events: readonly EventEnvelope[];
}

export interface CallAnswer {
  readonly number: number;
  /** For each event why it was refused; null when it was acknowledged. */
  readonly refusals: readonly (string | null)[];
}

/** How long a publishing process tries before it refuses what it could not get acknowledged. */
export const CALL_TIMEOUT_MS = 2_000;
