import type { RedisFacts, UpdateBacklog } from "@junban/event-queues";
import type { LaneReport } from "@junban/handoff-lock";
import type { StoreGauges, StoreHealth, UnknownEvents } from "@junban/order-store";
import type { Family } from "@junban/orders";
import { lookAtLanes, losingOf } from "../busy-lanes.ts";
import { isDenied, isFull } from "../denial.ts";
import type { Fleet } from "../fleet.ts";
import { readStandingLanes, type StandingLanes } from "../standing-lanes.ts";

/** What was asked, or why it could not be. */
export type Reading<Told> =
  | { readonly kind: "read"; readonly value: Told }
  | {
      readonly kind: "unreadable";
      readonly why: string;
      /** True when the server is there and lets nobody in by that name, password or database. */
      readonly isDenied: boolean;
      /** True when Postgres is there and has no connection left. */
      readonly isFull: boolean;
    };

/** What the fleet is set to, as far as the servers' settings are judged by it. */
export interface FleetSettings {
  readonly leaseMs: number;
  /** Connections of a worker for its transactions. */
  readonly poolSize: number;
  /** Vanished holders in a row from which a lane's head is served alone. */
  readonly crashAlone: number;
}

/** What stands still, waits for people, or soon will. */
export interface FleetFacts {
  /** Null when Redis does not tell who is connected. */
  readonly workers: number | null;
  /** False when no queue was ever used under the prefix. */
  readonly isUsed: boolean;
  readonly prefix: string;
  /** Jobs that are not done yet, those that run included. */
  readonly queued: number;
  /** Of these, jobs that no worker has looked at yet. */
  readonly untouched: number;
  readonly deadJobs: number;
  readonly paused: readonly Family[];
  readonly updates: UpdateBacklog;
  readonly gauges: StoreGauges;
  /** Held events whose type or schema version no worker has known so far; null when there is none. */
  readonly unknown: UnknownEvents | null;
  /** Orders with held events that are overdue, up to 1,000: somebody should have ended them. */
  readonly overdue: number;
  /** Orders whose release was interrupted, up to 1,000. */
  readonly halfReleased: number;
  /** Lanes whose holders vanished, most often first, up to 10. */
  readonly losing: readonly LaneReport[];
  /** Lanes whose head has not moved for some leases. */
  readonly standing: StandingLanes;
}

/** Everything the doctor looks at. */
export interface DoctorFacts {
  readonly settings: FleetSettings;
  readonly redis: Reading<RedisFacts>;
  readonly postgres: Reading<StoreHealth>;
  /** Names of the migrations that are not applied yet. */
  readonly pendingMigrations: Reading<readonly string[]>;
  readonly fleet: Reading<FleetFacts>;
}

export interface DoctorOptions {
  readonly fleet: Fleet;
  readonly settings: FleetSettings;
  readonly pendingMigrations: () => Promise<readonly string[]>;
  /** An error as one line for people, without secrets. */
  readonly explain: (error: unknown) => string;
}

const COUNTED = 1_000;
const LOSING_SHOWN = 10;
const STANDING_SHOWN = 3;
/** A job whose lane could not be served comes again within a lease, and the sweeper looks at each lane every few of them. */
const STANDS_LEASES = 6;

/** Asks everything at once; what cannot be asked is told instead, and hides nothing else. */
export async function readDoctorFacts(options: DoctorOptions): Promise<DoctorFacts> {
  const { fleet, settings, pendingMigrations, explain } = options;
  const reading = async <Told>(question: () => Promise<Told>): Promise<Reading<Told>> => {
    try {
      return { kind: "read", value: await question() };
    } catch (error) {
      return { kind: "unreadable", why: explain(error), isDenied: isDenied(error), isFull: isFull(error) };
    }
  };
  const [redis, postgres, pending, stuck] = await Promise.all([
    reading(() => fleet.queues.server()),
    reading(() => fleet.store.health()),
    reading(pendingMigrations),
    reading(() => readFleetFacts(fleet, settings)),
  ]);
  return { settings, redis, postgres, pendingMigrations: pending, fleet: stuck };
}

async function readFleetFacts(
  { queues, store, lanes }: Fleet,
  { leaseMs }: FleetSettings,
): Promise<FleetFacts> {
  const [isUsed, workers, counts, paused, updates, gauges, unknown, overdue, halfReleased, { busy }] =
    await Promise.all([
      queues.isUsed(),
      queues.workers(),
      queues.counts(),
      queues.paused(),
      queues.updates(),
      store.gauges(),
      store.readUnknown(),
      store.dueHeld({ limit: COUNTED }),
      store.stuckHalted({ limit: COUNTED }),
      lookAtLanes(lanes),
    ]);
  const standing = await readStandingLanes(lanes, busy, {
    olderThanMs: STANDS_LEASES * leaseMs,
    shown: STANDING_SHOWN,
  });
  const families = Object.values(counts);
  return {
    workers,
    isUsed,
    prefix: queues.prefix,
    queued: families.reduce(
      (sum, { waiting, prioritized, active, delayed }) => sum + waiting + prioritized + active + delayed,
      0,
    ),
    untouched: families.reduce((sum, { waiting, prioritized }) => sum + waiting + prioritized, 0),
    deadJobs: families.reduce((sum, { failed }) => sum + failed, 0),
    paused,
    updates,
    gauges,
    unknown,
    overdue: overdue.length,
    halfReleased: halfReleased.length,
    losing: losingOf(busy, { shown: LOSING_SHOWN }),
    standing,
  };
}
