import assert from "node:assert/strict";
import fc from "fast-check";
import { Exploration } from "../support/exploration.ts";
import { same } from "../support/same.ts";
import type { LanesPort } from "./interleavings-lanes.ts";
import type { Plan } from "./interleavings-plan.ts";
import { PLANS } from "./interleavings-plan.ts";
import type { Course } from "./interleavings-run.ts";
import { run } from "./interleavings-run.ts";

interface Promised {
  readonly plans: fc.Arbitrary<Plan>;
  readonly check: (course: Course, plan: Plan) => void;
  /** What has to happen beside the ordinary steps. */
  readonly kinds: readonly string[];
}

const STEPS = ["fetch", "enter", "hand off", "leave", "step back", "poll", "begin", "committed"] as const;
const MISFORTUNES = [
  ...["unsent", "unheard", "twice"].map((kind) => `lane step ${kind}`),
  ...["missed", "deaf"].map((kind) => `word ${kind}`),
  ...["half", "nothing", "unheard", "late", "unforeseen"].map((kind) => `store ${kind}`),
  "lease lost",
  "lapse",
];

/** What may be expected of the fleet, by what happens to it. */
const PROMISED = {
  smooth: {
    plans: PLANS.smooth,
    kinds: [],
    check: (course, plan) => {
      checkOrder(course);
      checkTidiness(course, plan);
      assert(course.store.largestGroup <= plan.commitLanes, "more lanes share a transaction than allowed");
    },
  },
  stops: {
    plans: PLANS.stops,
    kinds: ["process stopped"],
    check: (course, plan) => {
      checkOrder(course);
      checkTidiness(course, plan);
    },
  },
  misfortunes: { plans: PLANS.misfortunes, kinds: MISFORTUNES, check: checkOrder },
  deaths: {
    plans: PLANS.deaths,
    kinds: [...MISFORTUNES, "process died", "head given up"],
    check: (course) => {
      checkOrder(course);
      same("heads given up beside other work", course.store.crowdedGivingUp, 0);
    },
  },
  unqueued: { plans: PLANS.unqueued, kinds: [], check: checkTidiness },
  maintenance: {
    plans: PLANS.maintenance,
    kinds: [...MISFORTUNES, "visitor leaves", "visitor serves", "visitor vanishes"],
    check: checkOrder,
  },
  "lost-lanes": {
    plans: PLANS.lostLanes,
    kinds: [...MISFORTUNES, "process died", "lose lane"],
    check: () => {},
  },
} as const satisfies Readonly<Record<string, Promised>>;

export type InterleavingName = keyof typeof PROMISED;

export const INTERLEAVINGS = Object.keys(PROMISED) as readonly InterleavingName[];

/**
 * Real workers over lanes and a store in memory, in every order of steps that the scheduler draws.
 * @param spoil tampers with the lanes of every process: to see that it would be found out.
 */
export function interleavings(
  name: InterleavingName,
  spoil: (lanes: LanesPort) => LanesPort = (lanes) => lanes,
): Exploration {
  const { plans, check, kinds }: Promised = PROMISED[name];
  return Exploration.of({
    name,
    kinds: [...STEPS, ...kinds],
    property: (tally) =>
      fc.asyncProperty(plans, fc.scheduler(), async (plan, scheduler) => {
        const course = await run({ plan, scheduler, tally, spoil });
        checkEveryRun(course);
        check(course, plan);
        if (course.store.givenUp.length > 0) tally.count("head given up");
      }),
  });
}

/** Nothing lost, nothing doubled, no job ended early or never, and nobody left a lane behind. */
function checkEveryRun(course: Course): void {
  same("jobs and others that failed", course.failures, []);
  same("jobs that ended before their event had a row", course.completedEarly, []);
  const sorted = (rows: ReadonlyMap<string, readonly string[]>): object =>
    Object.fromEntries([...rows].map(([lcid, keys]) => [lcid, keys.toSorted()]));
  same("each event has one row", sorted(course.store.rows), sorted(course.published));
  same("lanes that are not free in the end", course.notFree, []);
}

function checkOrder({ store, published }: Course): void {
  same("first decisions in publish order", Object.fromEntries(store.rows), Object.fromEntries(published));
}

/** As long as nothing goes wrong and nothing comes twice: otherwise a settled request may stand until somebody comes by. */
function checkTidiness({ store, leftStanding }: Course, { events }: Plan): void {
  same("most transactions of one lane at once", store.mostAtOnce, 1);
  if (events.some(({ copies }) => copies > 1)) return;
  same("requests that stand although their job has ended", leftStanding, []);
}
