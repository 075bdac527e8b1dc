import type { Guard } from "./guard.ts";
import { HANDOFF_LOCK_GUARDS } from "./handoff-lock.ts";
import { LANE_SCRIPT_GUARDS } from "./lane-scripts.ts";

/** Every guard, room by room. */
export const GUARDS: readonly Guard[] = [...LANE_SCRIPT_GUARDS, ...HANDOFF_LOCK_GUARDS];
