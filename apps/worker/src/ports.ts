import type { Consumer, IncomingJob, JobEnd } from "@junban/event-queues";
import type { Lanes, Turn } from "@junban/handoff-lock";
import type { OrderStore } from "@junban/order-store";

/** What a job needs of the lanes: to ask for its turn, and to wait for it. */
export type LaneEntrance = Pick<Lanes, "enter" | "stand">;

/** What maintenance needs of the lanes: to take a free one, to look at all of them, and to clear old outcomes. */
export type LaneUpkeep = Pick<Lanes, "enter" | "scan" | "inspect" | "sweepOutcomes">;

/** A turn as its server uses it. */
export type ServedTurn = Pick<
  Turn,
  "lcid" | "tries" | "requests" | "signal" | "deadlineMs" | "handOff" | "leave"
>;

/** Applies batches; the only thing a commit needs of the store. */
export type Committer = Pick<OrderStore, "apply">;

/** The store's maintenance of one order at a time. */
export type OrderUpkeep = Pick<
  OrderStore,
  | "dueHeld"
  | "expireHeld"
  | "unsupported"
  | "redecideUnsupported"
  | "stuckHalted"
  | "releaseHalted"
  | "gauges"
>;

/** The part of a running consumer that the fleet process steers and watches. */
export type Consumption = Pick<
  Consumer,
  "pause" | "resume" | "activeCount" | "lastActivityMs" | "refusal" | "close"
>;

/** Starts fetching jobs; each is given to `process`, whose answer decides how the job ends. */
export type StartConsuming = (handlers: {
  readonly process: (job: IncomingJob) => Promise<JobEnd>;
  readonly onError: (error: Error) => void;
  readonly onUnreadable: () => void;
  readonly onOthersWaiting: () => void;
}) => Consumption;

/** The few lines of a logger this process writes. Fields never hold payload values. */
export interface FleetLogger {
  debug(fields: object, line: string): void;
  info(fields: object, line: string): void;
  warn(fields: object, line: string): void;
  error(fields: object, line: string): void;
}
