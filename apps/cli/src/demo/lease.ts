/**
 * Workers of the demo hold a lane for three seconds before they must renew, instead of ten: nobody wants to watch a lane
 * stand still for longer than that.
 */
export const LEASE_MS = 3_000;

/** What Junban promises: when a worker is gone, its lanes move again within the lease and this much. */
export const AFTER_LEASE_MS = 2_000;

/** The lease and the limits of Postgres that must stay below it, as a worker reads them. */
export const LEASE_SETTINGS = {
  JUNBAN_LEASE_MS: String(LEASE_MS),
  JUNBAN_STATEMENT_TIMEOUT_MS: "2000",
  JUNBAN_LOCK_TIMEOUT_MS: "1000",
  JUNBAN_IDLE_TX_TIMEOUT_MS: "2000",
} as const;

/** Requests that a worker takes from a lane at once; the worker's own default. */
export const LANE_BATCH = 256;
