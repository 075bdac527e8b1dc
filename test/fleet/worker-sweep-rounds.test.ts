import type { Entry, LaneReport, Turn } from "@junban/handoff-lock";
import { describe, expect, onTestFinished, test } from "vitest";
import { CommitGroups } from "../../apps/worker/src/commit-groups.ts";
import { LaneServer } from "../../apps/worker/src/lane-server.ts";
import { LocalSeats } from "../../apps/worker/src/local-seats.ts";
import { PassingTrouble } from "../../apps/worker/src/passing-trouble.ts";
import { Sweeper } from "../../apps/worker/src/sweeper.ts";
import type { SweeperOptions, SweepReport } from "../../apps/worker/src/sweeper.ts";
import { eventually } from "../support/index.ts";

const NO_LINES = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const LEASE_MS = 100;
const EMPTY_GAUGES = {
  held: 3,
  heldDueSoon: 0,
  halted: 0,
  failed: 0,
  alerts: 0,
  overCaptures: 0,
  cancelledShipments: 0,
  outboxUnpublished: 0,
  outboxLagMs: 0,
  outboxParked: 0,
};

/** Lanes and store of a small world, with a diary of what the sweeper did to them. */
class World {
  readonly diary: string[] = [];
  readonly rounds: SweepReport[] = [];
  readonly reports = new Map<string, Partial<LaneReport>>();
  /** Lanes whose head is another one at each look. */
  readonly moving = new Set<string>();
  readonly firstLookAtMs = new Map<string, number>();
  readonly firstTakeAtMs = new Map<string, number>();
  readonly busy = new Set<string>();
  due: string[] = [];
  unsupported: string[] = [];
  halted: string[] = [];
  postgresAnswers = true;

  readonly lanes: SweeperOptions["lanes"] = {
    enter: (lcid) => Promise.resolve(this.#enter(lcid)),
    scan: () => pageOf([...this.reports.keys()]),
    inspect: (lcid) => Promise.resolve(this.#inspect(lcid)),
    sweepOutcomes: (lcid, olderThanMs) => {
      this.diary.push(`clear ${lcid} ${olderThanMs}`);
      return Promise.resolve(1);
    },
  };

  readonly store: SweeperOptions["store"] = {
    dueHeld: ({ limit, after }) => Promise.resolve(behind(this.due, after).slice(0, limit)),
    unsupported: ({ limit, after }) => Promise.resolve(behind(this.unsupported, after).slice(0, limit)),
    stuckHalted: ({ limit, after }) => Promise.resolve(behind(this.halted, after).slice(0, limit)),
    expireHeld: (lcid) => this.#keep("expire", lcid),
    redecideUnsupported: (lcid) => this.#keep("redecide", lcid),
    releaseHalted: (lcid) => this.#keep("release", lcid),
    gauges: () => Promise.resolve(EMPTY_GAUGES),
  };

  #keep(what: string, lcid: string): Promise<number> {
    this.diary.push(`${what} ${lcid}`);
    return lcid === "ill" ? Promise.reject(new Error("this order is ill")) : Promise.resolve(1);
  }

  #inspect(lcid: string): LaneReport {
    const nowMs = performance.now();
    if (!this.firstLookAtMs.has(lcid)) this.firstLookAtMs.set(lcid, nowMs);
    const report = { ...EMPTY_LANE, lcid, ...this.reports.get(lcid) };
    return this.moving.has(lcid) ? { ...report, headKey: `head at ${nowMs}` } : report;
  }

  #enter(lcid: string): Entry {
    if (this.busy.has(lcid)) return { kind: "waiting", position: 0 };
    this.diary.push(`take ${lcid}`);
    if (!this.firstTakeAtMs.has(lcid)) this.firstTakeAtMs.set(lcid, performance.now());
    return { kind: "turn", turn: this.#turn(lcid) };
  }

  #turn(lcid: string): Turn {
    return {
      lcid,
      token: "t",
      tries: 1,
      requests: [],
      signal: new AbortController().signal,
      startedAtMs: 0,
      deadlineMs: () => performance.now() + 1000,
      handOff: () => Promise.resolve({ kind: "released" }),
      leave: () => Promise.resolve(void this.diary.push(`leave ${lcid}`)),
    };
  }
}

const EMPTY_LANE = {
  depth: 0,
  holder: null,
  leaseLeftMs: 0,
  seats: 0,
  outcomes: 0,
  tries: 0,
  headKey: null,
  consistent: true,
};

function behind(lcids: readonly string[], after: string | undefined): string[] {
  return lcids.filter((lcid) => after === undefined || lcid > after);
}

/** Since the sweeper first saw this lane. */
function elapsedMs({ firstLookAtMs }: World, lcid: string): number {
  return performance.now() - (firstLookAtMs.get(lcid) ?? Number.POSITIVE_INFINITY);
}

async function* pageOf(lcids: readonly string[]): AsyncGenerator<readonly string[]> {
  await Promise.resolve();
  yield lcids;
}

async function sweep(world: World): Promise<Sweeper> {
  const trouble = new PassingTrouble({
    waitMs: 10,
    leaseMs: LEASE_MS,
    probePostgres: () => (world.postgresAnswers ? Promise.resolve() : Promise.reject(new Error("refused"))),
    probeRedis: () => Promise.resolve(),
    logger: NO_LINES,
  });
  if (!world.postgresAnswers) {
    trouble.laneTrouble("x", { kind: "down", error: new Error("refused") });
    await eventually(() => trouble.postgresAway);
  }
  const store = { apply: () => Promise.resolve([]) };
  const server = new LaneServer({
    seats: new LocalSeats({ waitMs: 1000 }),
    groups: new CommitGroups({ store, commitLanes: 1, commitParallel: 1, commitEvents: 1 }),
    trouble,
    quantumMs: 1000,
    crashAlone: 3,
    crashGiveUp: 10,
    laneBatch: 1,
    observers: [],
  });
  const sweeper = new Sweeper({
    lanes: world.lanes,
    maintenance: { enter: () => world.lanes.enter("sweeper") },
    store: world.store,
    server,
    trouble,
    leaseMs: LEASE_MS,
    keepOutcomesMs: 60_000,
    logger: NO_LINES,
    onRound: (report) => world.rounds.push(report),
  });
  onTestFinished(async () => {
    await sweeper.stop();
    trouble.stop();
  });
  sweeper.start();
  return sweeper;
}

describe("a round of the sweeper", () => {
  test("does each order's upkeep inside that order's lane, and one order's trouble is its own", async () => {
    const world = new World();
    world.due = ["ill", "well"];
    world.halted = ["halted"];
    world.unsupported = ["new"];
    await sweep(world);
    await eventually(() => world.rounds.length > 0);
    expect(world.diary.slice(0, 13).join(", ")).toBe(
      "take sweeper, take ill, expire ill, leave ill, take well, expire well, leave well, " +
        "take halted, release halted, leave halted, take new, redecide new, leave new",
    );
    expect(world.rounds[0]?.gauges?.held).toBe(3);
  });

  test("passes over a lane that is served", async () => {
    const world = new World();
    world.due = ["busy", "free"];
    world.busy.add("busy");
    await sweep(world);
    await eventually(() => world.rounds.length > 0);
    expect(world.diary).toContain("expire free");
    expect(world.diary).not.toContain("expire busy");
  });

  test("comes to every order that is due, page after page", async () => {
    const world = new World();
    world.due = Array.from({ length: 250 }, (_, at) => `order-${String(at).padStart(3, "0")}`);
    await sweep(world);
    await eventually(() => world.rounds.length > 0);
    expect(new Set(world.diary.filter((line) => line.startsWith("expire"))).size).toBe(250);
  });

  test("takes a lane that stands still, and none that is held, empty or moving; clears outcomes; knows the deepest", async () => {
    const world = new World();
    world.reports.set("moving", { depth: 3 });
    world.moving.add("moving");
    world.reports.set("still", { depth: 2, headKey: "k" });
    world.reports.set("held", { depth: 9, headKey: "k", holder: "t", leaseLeftMs: 500 });
    // Entering such a lane is what gives its lock a lease.
    world.reports.set("endless", { depth: 4, headKey: "k", holder: "t", leaseLeftMs: 0 });
    world.reports.set("empty", { outcomes: 4 });
    world.reports.set("broken", { depth: 1, headKey: "k", consistent: false });
    await sweep(world);
    await eventually(() => world.diary.includes("take still"));
    // The round that took it has to end before what it left alone can be told.
    const roundsBefore = world.rounds.length;
    await eventually(() => world.rounds.length > roundsBefore);
    const stoodMs = world.firstTakeAtMs.get("still")! - world.firstLookAtMs.get("still")!;
    expect(stoodMs).toBeGreaterThanOrEqual(2 * LEASE_MS);
    expect(world.diary).toContain("take broken");
    await eventually(() => world.diary.includes("take endless"));
    expect(world.diary).toContain("clear empty 60000");
    expect(world.diary).not.toContain("take held");
    expect(world.diary).not.toContain("take empty");
    expect(world.diary).not.toContain("take moving");
    expect(world.rounds.at(-1)).toMatchObject({ deepestLane: 9, standing: 19 });
  });

  test("a process that does not sweep has nothing to say of the fleet, even if it did before", async () => {
    const world = new World();
    world.busy.add("sweeper");
    world.reports.set("deep", { depth: 9, headKey: "k" });
    await sweep(world);
    await eventually(() => world.rounds.length > 0);
    expect(world.rounds.at(-1)).toMatchObject({
      deepestLane: 0,
      standing: 0,
      gauges: { held: 0, failed: 0 },
    });
    world.busy.delete("sweeper");
    await eventually(() => world.rounds.at(-1)?.standing === 9);
  });

  test("waits while Postgres is away, counts lanes without taking them, and goes on when it is back", async () => {
    const world = new World();
    world.postgresAnswers = false;
    world.due = ["well"];
    world.reports.set("still", { depth: 7, headKey: "head" });
    await sweep(world);
    await eventually(() => world.rounds.length > 0 && elapsedMs(world, "still") > 4 * LEASE_MS);
    expect(world.diary).toEqual(["take sweeper"]);
    expect(world.rounds.at(-1)).toMatchObject({ standing: 7, gauges: { held: Number.NaN } });
    world.postgresAnswers = true;
    await eventually(() => world.diary.includes("expire well"));
    await eventually(() => world.rounds.at(-1)?.gauges === null);
    expect(world.rounds.find(({ gauges }) => gauges?.held === 3)).toBeDefined();
  });

  test("that was cut short is told as not known, and not as what was seen before it", async () => {
    const world = new World();
    world.reports.set("still", { depth: 7, headKey: "head" });
    await sweep(world);
    await eventually(() => world.rounds.at(-1)?.standing === 7);
    world.store.dueHeld = () => Promise.reject(new Error("no answer"));
    await eventually(() => Number.isNaN(world.rounds.at(-1)?.standing));
    expect(world.rounds.at(-1)?.gauges).toMatchObject({ failed: Number.NaN, outboxLagMs: Number.NaN });
  });

  test("stops early, twice and in the middle of a round, and leaves the sweeper's lane", async () => {
    const world = new World();
    const sweeper = await sweep(world);
    await eventually(() => sweeper.leads);
    await Promise.all([sweeper.stop(), sweeper.stop()]);
    expect(world.diary.filter((line) => line === "leave sweeper")).toHaveLength(1);
    expect(sweeper.leads).toBe(false);
  });
});
