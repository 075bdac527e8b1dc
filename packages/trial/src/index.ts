/**
 * A trial of the fleet on throwaway servers: real worker processes that can be killed, frozen and dismissed, the reading of
 * everything that is stored afterwards, and the verdict over both.
 *
 * For the demo and for the fault runs. Not for production, and not for starting servers (the sandbox does) or inventing
 * events (the stories do).
 */
export { Crew, type CrewMember, type CrewOptions, type StartOptions } from "./crew.ts";
export { ForeignMemberError, ReferenceMissingError, WorkerEndedError } from "./errors.ts";
export { readStored, type ReadingStored, type StoredOrders } from "./evidence.ts";
export { InterruptedError, unlessAborted } from "./interruption.ts";
export { thinkReference } from "./reference.ts";
export {
  isGood,
  verdictOf,
  type DecidedEvent,
  type Evidence,
  type Sending,
  type Verdict,
} from "./verdict.ts";
