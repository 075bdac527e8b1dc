import { test } from "vitest";
import { assertExplored } from "../support/exploration.ts";
import { interleavings } from "./interleavings-property.ts";

const RUN = { schedules: 500, atLeast: 200 };
/** A bound for machines that do other things; a run takes a second or two. */
const LONG_MS = 240_000;

test(
  "every schedule decides each lane in publish order, one transaction of a lane at a time, and ends every job after its event",
  async () => {
    await assertExplored(interleavings("smooth"), RUN);
  },
  LONG_MS,
);

test(
  "processes that stop hand their waiting jobs back, finish what is in a transaction, and lose nothing",
  async () => {
    await assertExplored(interleavings("stops"), RUN);
  },
  LONG_MS,
);

test(
  "order and ends survive unanswered lane steps, passing database trouble and lost leases",
  async () => {
    await assertExplored(interleavings("misfortunes"), RUN);
  },
  LONG_MS,
);

test(
  "processes that die in the middle of anything lose nothing, double nothing and invert nothing",
  async () => {
    await assertExplored(interleavings("deaths"), RUN);
  },
  LONG_MS,
);

test(
  "events that were never queued are decided once each when their jobs come, and end their jobs",
  async () => {
    await assertExplored(interleavings("unqueued"), RUN);
  },
  LONG_MS,
);

test(
  "sweepers and operators that take a lane between its holders serve what has no job, and invert nothing",
  async () => {
    await assertExplored(interleavings("maintenance"), RUN);
  },
  LONG_MS,
);

test(
  "lanes that vanish with everything in them lose no event and double none",
  async () => {
    await assertExplored(interleavings("lost-lanes"), RUN);
  },
  LONG_MS,
);
