import type { Guard } from "./guard.ts";

/** The batches of several lanes in one transaction: which ones, how many, and in what order. */

const SRC = "apps/worker/src";
const GROUPS = "test/fleet/worker-commit-groups.test.ts";

export const COMMIT_GROUPS_GUARDS: readonly Guard[] = [
  {
    promise: "two batches of one lane are never in flight together",
    file: `${SRC}/commit-groups.ts`,
    guard: " && !this.#inFlight.has(lane.lcid)",
    without: "",
    tests: [{ file: GROUPS, title: "two batches of one lane are never in flight together" }],
  },
  {
    promise: "no more transactions at once than allowed",
    file: `${SRC}/commit-groups.ts`,
    guard: " && this.#transactions < this.#options.commitParallel",
    without: "",
    tests: [{ file: GROUPS, title: "no more transactions at once than allowed" }],
  },
  {
    promise: "no more events in a transaction than allowed",
    file: `${SRC}/commit-groups.ts`,
    guard: "taken.length === 0 || events + lane.requests.length <= commitEvents",
    without: "true",
    tests: [{ file: GROUPS, title: "a transaction takes no more events than allowed" }],
  },
  {
    promise: "small batches of many lanes share a transaction",
    file: `${SRC}/fleet-worker.ts`,
    guard: "Math.max(COMMIT_EVENTS, config.laneBatch * BATCHES_PER_COMMIT)",
    without: "config.laneBatch * BATCHES_PER_COMMIT",
    tests: [{ file: "test/fleet/worker-shared-commits.test.ts" }],
  },
  {
    promise: "lanes of a group are in one order for all processes",
    file: `${SRC}/commit-groups.ts`,
    guard: "return taken.toSorted((a, b) => (a.lane.lcid < b.lane.lcid ? -1 : 1));",
    without: "return taken;",
    tests: [{ file: GROUPS, title: "in lcid order" }],
  },
  {
    promise: "a batch whose lease went while it waited is not begun",
    file: `${SRC}/commit-groups.ts`,
    guard: "if (lane.signal.aborted) {",
    without: "if (lane.signal === null) {",
    hangs: true,
    tests: [{ file: GROUPS, title: "a batch whose lease went while it waited is not begun" }],
  },
  {
    promise: "a suspect is committed with nothing beside it",
    file: `${SRC}/commit-groups.ts`,
    guard: "if (suspectsTurn && this.#transactions > 0) return;",
    without: "",
    tests: [{ file: GROUPS, title: "a suspect is committed with nothing beside it" }],
  },
  {
    promise: "nothing begins beside a suspect",
    file: `${SRC}/commit-groups.ts`,
    guard: "while (!this.#suspectInFlight && ",
    without: "while (",
    tests: [{ file: GROUPS, title: "a suspect is committed with nothing beside it" }],
  },
  {
    promise: "suspects do not stop the others",
    file: `${SRC}/commit-groups.ts`,
    guard: "this.#suspects.length > 0 && !(this.#suspectWentLast && this.#ready.length > 0)",
    without: "this.#suspects.length > 0",
    tests: [{ file: GROUPS, title: "does not stop the others" }],
  },
  {
    promise: "a store that throws is trouble and not success",
    file: `${SRC}/commit-groups.ts`,
    guard: '        settled: [],\n        trouble: { kind: "unknown", error },',
    without: "        settled: [],\n        trouble: null,",
    tests: [{ file: GROUPS, title: "a store that throws, or forgets a lane" }],
  },
];
