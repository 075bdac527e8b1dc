/**
 * One turn in line per name, on Redis: a lock that is handed on to the next in line instead of being let go.
 *
 * For: putting requests in line (`queue`), standing in line for a lane (`stand`), serving the line under a lease and
 * handing it on (`Turn`), and looking at or repairing lanes.
 * Not for: deciding what a request means or whether it was done before. A lane gives order and throughput; a holder that
 * lost its lease can still be at work, so what must happen at most once is decided where the result is stored.
 */
export type {
  Entry,
  Handoff,
  HandOffOptions,
  LaneObservers,
  LaneReport,
  LaneRequest,
  Lanes,
  LanesOptions,
  LaneView,
  LeftOutcome,
  LinePlace,
  QueueEntry,
  QueueResult,
  Settlement,
  Standing,
  StandingRequest,
  Turn,
} from "./contract.ts";
export { createLanes } from "./lanes-on-redis.ts";
export { LaneNameError, LaneUnavailableError, LeaseLostError, OutOfMemoryError } from "./errors.ts";
