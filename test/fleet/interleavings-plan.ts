import fc from "fast-check";
import type { LaneMisfortune } from "./interleavings-lanes.ts";
import type { WordMisfortune } from "./interleavings-redis.ts";
import type { StoreMisfortune } from "./interleavings-store.ts";

/** What one run looks like; fast-check draws it, and prints it when it fails. */
export interface Plan {
  /** How many processes share the lanes. */
  readonly processes: number;
  /** For each event in publish order: its order, and the process that first fetches its job. */
  readonly events: readonly { readonly order: number; readonly process: number; readonly copies: number }[];
  readonly batch: number;
  readonly commitLanes: number;
  readonly commitParallel: number;
  /** Vanished holders in a row from which a head is served alone, and from which it is given up. */
  readonly crashAlone: number;
  readonly crashGiveUp: number;
  /** Every handoff offers to yield, or none does. */
  readonly yieldsAlways: boolean;
  /** Every seat is sent to its lane after each batch, or none is. */
  readonly seatsNeverRest: boolean;
  /** Events whose producer put a job into the queue and nothing into the lane. */
  readonly unqueued: readonly boolean[];
  /** Events whose publisher died between the lane and the job. */
  readonly jobless: readonly boolean[];
  readonly laneMisfortunes: readonly (LaneMisfortune | "none")[];
  readonly wordMisfortunes: readonly (WordMisfortune | "none")[];
  readonly storeMisfortunes: readonly (StoreMisfortune | "none")[];
  /** The rest happens at moments the scheduler picks. Orders whose lease is lost: */
  readonly leasesLost: readonly number[];
  /** Orders whose lane vanishes with everything in it. */
  readonly lanesLost: readonly number[];
  /** Sweepers and operators that take an order's lane for a while. */
  readonly visits: readonly { readonly order: number; readonly does: "leaves" | "serves" | "vanishes" }[];
  /** Processes that are asked to stop. */
  readonly stops: readonly number[];
  /** Processes that vanish without a word. */
  readonly deaths: readonly number[];
}

const ORDERS = 3;
const MOST_EVENTS = 14;

const order = fc.nat({ max: ORDERS - 1 });
/** The first process goes on to the end, so that there is always one to fetch what the others put back. */
const endingProcesses = fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 2 });
const someEvents = fc.array(fc.boolean(), { maxLength: MOST_EVENTS });

function rarely<Kind extends string>(
  kinds: readonly Kind[],
  maxLength: number,
): fc.Arbitrary<(Kind | "none")[]> {
  const drawn = fc.oneof(
    { weight: 7, arbitrary: fc.constant("none" as const) },
    { weight: 1, arbitrary: fc.constantFrom(...kinds) },
  );
  return fc.array(drawn, { maxLength });
}

const smooth = fc.record<Plan>({
  processes: fc.integer({ min: 1, max: 3 }),
  events: fc.array(
    fc.record({
      order,
      process: fc.nat({ max: 2 }),
      copies: fc.nat({ max: 5 }).map((drawn) => (drawn === 0 ? 2 : 1)),
    }),
    { minLength: 1, maxLength: MOST_EVENTS },
  ),
  batch: fc.integer({ min: 1, max: 4 }),
  commitLanes: fc.integer({ min: 1, max: 3 }),
  commitParallel: fc.integer({ min: 1, max: 2 }),
  crashAlone: fc.constant(3),
  crashGiveUp: fc.constant(10),
  yieldsAlways: fc.boolean(),
  seatsNeverRest: fc.boolean(),
  unqueued: fc.constant([]),
  jobless: fc.constant([]),
  laneMisfortunes: fc.constant([]),
  wordMisfortunes: fc.constant([]),
  storeMisfortunes: fc.constant([]),
  leasesLost: fc.constant([]),
  lanesLost: fc.constant([]),
  visits: fc.constant([]),
  stops: fc.constant([]),
  deaths: fc.constant([]),
});

function but(plan: fc.Arbitrary<Plan>, changes: fc.Arbitrary<Partial<Plan>>): fc.Arbitrary<Plan> {
  return fc.tuple(plan, changes).map(([before, changed]) => ({ ...before, ...changed }));
}

const misfortunes = but(
  smooth,
  fc.record({
    laneMisfortunes: rarely(["unsent", "unheard", "twice"], 40),
    wordMisfortunes: rarely(["missed", "deaf"], 20),
    storeMisfortunes: rarely(["half", "nothing", "unheard", "late", "unforeseen"], 20),
    leasesLost: fc.array(order, { maxLength: 3 }),
  }),
);

const visits = fc.array(
  fc.record({ order, does: fc.constantFrom("leaves" as const, "serves" as const, "vanishes" as const) }),
  { minLength: 1, maxLength: 3 },
);

/** Holders vanish often, and it does not take many until the fleet becomes suspicious of their head. */
const deaths = but(
  misfortunes,
  fc.record({
    deaths: endingProcesses,
    visits,
    crashAlone: fc.integer({ min: 1, max: 2 }),
    crashGiveUp: fc.integer({ min: 1, max: 3 }),
  }),
);

export const PLANS = {
  smooth,
  stops: but(smooth, fc.record({ stops: endingProcesses })),
  misfortunes,
  deaths,
  unqueued: but(smooth, fc.record({ unqueued: someEvents })),
  maintenance: but(misfortunes, fc.record({ visits, jobless: someEvents })),
  lostLanes: but(
    deaths,
    fc.record({ lanesLost: fc.array(order, { minLength: 1, maxLength: 2 }), unqueued: someEvents }),
  ),
} as const;
