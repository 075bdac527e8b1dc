/**
 * What people on call ask of the fleet and do to it: how it stands, which lanes are busy, what died, and giving that back
 * or up, each act on record; and what is wrong with it and with its servers, with the remedy in words.
 *
 * For: whatever shows it to them. The `junban` command prints it, a console shows it; both do the same.
 * Not for: tables and pages, who may do what, the SQL, Lua and BullMQ behind it, or anything a worker does by itself.
 */
export { failedAct, type FailedAct, type FailedActOptions } from "./acts/failed-act.ts";
export {
  ActionRecord,
  NotNotedError,
  type ActCarriedOut,
  type ActionRecordOptions,
  type WorkOptions,
} from "./acts/action-record.ts";
export {
  acknowledgeAct,
  dropAct,
  dropParkedAct,
  forgetSubscriberAct,
  freeLaneAct,
  giveBackAct,
  purgeAct,
  replayAct,
} from "./acts/named-acts.ts";
export { isIdle, readBacklog, type Backlog } from "./backlog.ts";
export { readBusyLanes, turnsLost, type BusyLanes } from "./busy-lanes.ts";
export type { Change, LineField, OrderField } from "./changes.ts";
export {
  acknowledgeDead,
  dropDead,
  replayDead,
  type DeadAddress,
  type OperatorOutcome,
} from "./dead-letters.ts";
export { isDenied, isFull } from "./denial.ts";
export { examine, judge, type Examination } from "./doctor/doctor.ts";
export type { DoctorFacts, DoctorOptions, FleetFacts, FleetSettings, Reading } from "./doctor/facts.ts";
export { counted, lasting, sized, type Finding, type Severity } from "./doctor/finding.ts";
export { DeadJobNotFoundError, LaneBusyError, LaneHolderGoneError, SubscriberServedError } from "./errors.ts";
export type { Fleet } from "./fleet.ts";
export { answerTo, readGlance, type Answer, type Glance, type QueuesNow } from "./glance.ts";
export { freedSays, freeingSays, freeLane, type FreedLane } from "./lane-freeing.ts";
export { withLane } from "./lane-turn.ts";
export { readLane, type EventNamed, type LaneInFull, type StandingRequest } from "./lane-view.ts";
export { harmlessJson, printable } from "./printable.ts";
export type { StandingLane, StandingLanes } from "./standing-lanes.ts";
export { readStatus, type FleetStatus } from "./status.ts";
export { readTimeline, type Timeline, type TimelineEntry, type TimelineOptions } from "./timeline.ts";
export { forgetSubscriber, type Forgotten } from "./update-subscribers.ts";
