/**
 * What people on call ask of the fleet and do to it: how it stands, which lanes are busy, what died, and giving that back
 * or up.
 *
 * For: whatever shows it to them. The `junban` command prints it, a console shows it; both do the same.
 * Not for: words and tables, who may do what, the SQL, Lua and BullMQ behind it, or anything a worker does by itself.
 */
export { isIdle, readBacklog, type Backlog } from "./backlog.ts";
export { readBusyLanes, type BusyLanes } from "./busy-lanes.ts";
export { dropDead, replayDead, type DeadAddress, type OperatorOutcome } from "./dead-letters.ts";
export { DeadJobNotFoundError, LaneBusyError } from "./errors.ts";
export type { Fleet } from "./fleet.ts";
export { withLane } from "./lane-turn.ts";
export { readLane, type EventNamed, type LaneInFull, type StandingRequest } from "./lane-view.ts";
export { readStatus, type FleetStatus } from "./status.ts";
