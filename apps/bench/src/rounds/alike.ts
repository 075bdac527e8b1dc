/** What is the same for everybody who is measured; the page tells it from here. */

/** Jobs in hand in one process, where a contender asks for no other number: Junban's default of 128 for each of four families. */
export const SLOTS = 512;
export const FAMILIES = 4;

/** Connections of the order store: Junban's default. */
export const POOL_SIZE = 8;

/** As `npm run worker` starts the worker: room for short-lived objects. */
export const NODE_FLAGS: readonly string[] = ["--max-semi-space-size=64"];

/** How a process is warmed up, as rounds/warming.ts says. */
export const WARMING = {
  /** Events of a portion of many orders, and the most of a portion of one. */
  events: 1_000,
  /** A portion of one order is so much smaller at first, and then twice the one before. */
  firstHotShare: 1 / 8,
  portions: 12,
  /** No further portion for whoever took longer for the last one, */
  soonMs: 1_000,
  /** nor for anybody after so long. */
  enoughMs: 3_000,
  /** Who is not through a portion by then cannot be measured. */
  withinMs: 120_000,
} as const;
