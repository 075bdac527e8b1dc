import { setImmediate as nextTurn } from "node:timers/promises";
import type { IncomingJob, JobEnd } from "@junban/event-queues";
import { readEnvelope, requestOf } from "@junban/orders";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createFleetWorker } from "../../apps/worker/src/index.ts";
import type { FleetWorker } from "../../apps/worker/src/index.ts";
import {
  lanesPort,
  Misfortunes,
  ModelLanes,
  ModelRedis,
  ModelStore,
  storePort,
} from "./interleavings-model.ts";

/** What one run looks like; fast-check draws it and prints it, with the seed, when it fails. */
interface Plan {
  /** How many processes share the lanes. */
  readonly processes: number;
  /** For each event in publish order: its order, and the process that first fetches its job. */
  readonly events: readonly { readonly order: number; readonly process: number; readonly copies: number }[];
  readonly batch: number;
  readonly commitLanes: number;
  readonly commitParallel: number;
  /** Every handoff offers to yield, or none does. */
  readonly yieldsAlways: boolean;
  /** Every seat is sent to its lane after each batch, or none is. */
  readonly seatsNeverRest: boolean;
  /** Events whose producer put a job into the queue and nothing into the lane. */
  readonly unqueued: readonly boolean[];
  readonly laneMisfortunes: readonly boolean[];
  readonly storeMisfortunes: readonly boolean[];
  /** How many times a lease is lost, at moments the scheduler picks. */
  readonly leasesLost: readonly number[];
  /** Processes that are asked to stop, at moments the scheduler picks. */
  readonly stops: readonly number[];
  /** Processes that vanish without a word, at moments the scheduler picks. */
  readonly deaths: readonly number[];
}

const ORDERS = 3;
const rarely = (maxLength: number): fc.Arbitrary<boolean[]> =>
  fc.array(
    fc.nat({ max: 7 }).map((drawn) => drawn === 0),
    { maxLength },
  );

const smoothPlan = fc.record<Plan>({
  processes: fc.integer({ min: 1, max: 3 }),
  events: fc.array(
    fc.record({
      order: fc.nat({ max: ORDERS - 1 }),
      process: fc.nat({ max: 2 }),
      copies: fc.nat({ max: 5 }).map((drawn) => (drawn === 0 ? 2 : 1)),
    }),
    { minLength: 1, maxLength: 14 },
  ),
  batch: fc.integer({ min: 1, max: 4 }),
  commitLanes: fc.integer({ min: 1, max: 3 }),
  commitParallel: fc.integer({ min: 1, max: 2 }),
  yieldsAlways: fc.boolean(),
  seatsNeverRest: fc.boolean(),
  unqueued: fc.constant([]),
  laneMisfortunes: fc.constant([]),
  storeMisfortunes: fc.constant([]),
  leasesLost: fc.constant([]),
  stops: fc.constant([]),
  deaths: fc.constant([]),
});

const roughPlan = fc
  .tuple(
    smoothPlan,
    fc.record({
      laneMisfortunes: rarely(40),
      storeMisfortunes: rarely(20),
      leasesLost: fc.array(fc.nat({ max: ORDERS - 1 }), { maxLength: 3 }),
    }),
  )
  .map(([smooth, rough]): Plan => ({ ...smooth, ...rough }));

const stoppingPlan = fc
  .tuple(smoothPlan, fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 2 }))
  .map(([smooth, stops]): Plan => ({ ...smooth, stops }));

const dyingPlan = fc
  .tuple(roughPlan, fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 2 }))
  .map(([rough, deaths]): Plan => ({ ...rough, deaths }));

const unqueuedPlan = fc
  .tuple(smoothPlan, fc.array(fc.boolean(), { maxLength: 14 }))
  .map(([smooth, unqueued]): Plan => ({ ...smooth, unqueued }));

const NO_LINES = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function eventOf(order: number, number: number): { lcid: string; data: object } {
  const lcid = `order-${order}`;
  const data = {
    specversion: "1.0",
    id: `e${number}`,
    source: "/model",
    type: "line.added",
    lcid,
    data: { number },
  };
  return { lcid, data };
}

function keyOf(data: object): { key: string; body: string } {
  const reading = readEnvelope(data);
  if (reading.kind !== "usable") throw new Error(`${reading.field}: ${reading.rule}`);
  const { key, body } = requestOf(reading.envelope);
  return { key, body };
}

interface ModelProcess {
  readonly fleet: FleetWorker;
  readonly lanes: ModelLanes;
  fetch(job: IncomingJob): Promise<JobEnd | "died">;
  /** Stopped or dead: it fetches no more. */
  gone: boolean;
  die(): void;
}

/** One fleet process over the model: everything real but the queue and the servers. */
function startProcess(plan: Plan, world: { lanes: ModelLanes; store: ModelStore }): ModelProcess {
  const { batch, commitLanes, commitParallel } = plan;
  let fetch: (job: IncomingJob) => Promise<JobEnd> = () =>
    Promise.reject(new Error("nothing is consumed yet"));
  let active = 0;
  let died: () => void = () => {};
  const death = new Promise<"died">((resolve) => {
    died = () => resolve("died");
  });
  const process = { dead: false, gone: false };
  const fleet = createFleetWorker({
    config: {
      leaseMs: 10_000,
      laneBatch: batch,
      quantumMs: plan.yieldsAlways ? 0 : 3_600_000,
      waitMs: plan.seatsNeverRest ? 0 : 3_600_000,
      commitLanes,
      commitParallel,
      crashAlone: 3,
      crashGiveUp: 10,
    },
    lanes: lanesPort(world.lanes),
    maintenance: lanesPort(world.lanes),
    store: storePort(world.store.of(process)),
    probeRedis: () => Promise.resolve(),
    pausedQueues: () => Promise.resolve([]),
    logger: NO_LINES,
    sweep: false,
    consume: (handlers) => {
      fetch = async (job) => {
        active += 1;
        try {
          return await handlers.process(job);
        } finally {
          active -= 1;
        }
      };
      return {
        pause: () => Promise.resolve(),
        resume: () => {},
        activeCount: () => active,
        lastActivityMs: () => 0,
        refusal: () => null,
        close: () => Promise.resolve(),
      };
    },
  });
  return Object.assign(process, {
    fleet,
    lanes: world.lanes,
    // A job whose process dies stalls, and comes again.
    fetch: (job: IncomingJob) => Promise.race([fetch(job), death]),
    die: () => {
      Object.assign(process, { dead: true, gone: true });
      world.lanes.die();
      died();
    },
  });
}

interface Course {
  readonly store: ModelStore;
  readonly published: Map<string, string[]>;
  readonly completedEarly: string[];
  readonly unfinished: number;
  readonly leasesLost: number;
}

async function run(plan: Plan, scheduler: fc.Scheduler): Promise<Course> {
  const redis = new ModelRedis();
  const store = new ModelStore({ scheduler, misfortunes: new Misfortunes(plan.storeMisfortunes) });
  const laneMisfortunes = new Misfortunes(plan.laneMisfortunes);
  const processes = Array.from({ length: plan.processes }, () => {
    const lanes = new ModelLanes({ redis, scheduler, batch: plan.batch, misfortunes: laneMisfortunes });
    return startProcess(plan, { lanes, store });
  });
  const published = new Map<string, string[]>();
  const completedEarly: string[] = [];

  const carry = async (job: { data: object; lcid: string; key: string; process: number }): Promise<void> => {
    // A job that stepped back is fetched again, by whichever process comes first.
    for (let fetches = 0; fetches < 200; fetches += 1) {
      await scheduler.schedule(Promise.resolve(), `fetch ${job.lcid}`);
      const running = processes.filter(({ gone }) => !gone);
      const fetcher = running[(job.process + fetches) % running.length]!;
      const incoming: IncomingJob = {
        id: job.key,
        family: "line-item",
        name: "",
        data: job.data,
        stepsBack: fetches,
      };
      const end = await fetcher.fetch(incoming);
      if (end === "died" || end.kind !== "completed") continue;
      if (!store.isSettled(job.lcid, job.key)) completedEarly.push(job.key);
      return;
    }
    throw new Error(`the job of ${job.key} did not end`);
  };

  const jobs = plan.events.flatMap(({ order, process, copies }, number) => {
    const { lcid, data } = eventOf(order, number);
    const request = keyOf(data);
    const line = published.get(lcid) ?? [];
    published.set(lcid, [...line, request.key]);
    if (plan.unqueued[number] !== true) redis.queue(lcid, request);
    return Array.from({ length: copies }, () => carry({ data, lcid, key: request.key, process }));
  });
  const losses = plan.leasesLost.map(async (order) => {
    await scheduler.schedule(Promise.resolve(), `lease of order-${order} lapses`);
    redis.loseLease(`order-${order}`);
    await scheduler.schedule(Promise.resolve(), "the loss is noticed");
    for (const { lanes } of processes) lanes.noticeLostLeases();
  });
  // The first process goes on to the end, so that there is always one to fetch what the others put back.
  const stops = plan.stops.map(async (which) => {
    await scheduler.schedule(Promise.resolve(), `process ${which} stops`);
    const stopping = processes[which];
    if (stopping === undefined || which === 0) return;
    stopping.gone = true;
    await stopping.fleet.stop({ deadlineMs: 60_000 });
  });
  const deaths = plan.deaths.map(async (which) => {
    await scheduler.schedule(Promise.resolve(), `process ${which} dies`);
    if (which !== 0) processes[which]?.die();
  });
  const ends = await driveToEnd(scheduler, Promise.allSettled([...jobs, ...losses, ...stops, ...deaths]));
  // Nothing of this run may tick on into the next one.
  await Promise.all(processes.map(({ fleet }) => fleet.stop({ deadlineMs: 0 })));
  const unfinished = ends.filter(({ status }) => status === "rejected").length;
  return { store, published, completedEarly, unfinished, leasesLost: redis.leasesLost };
}

/** Lets the scheduler take its steps until the work is done. Work that waits while no step is left would wait for ever. */
async function driveToEnd<T>(scheduler: fc.Scheduler, work: Promise<T>): Promise<T> {
  const progress = { done: false };
  const finished = work.finally(() => {
    progress.done = true;
  });
  let idleTurns = 0;
  while (!progress.done) {
    await nextTurn();
    idleTurns = scheduler.count() === 0 ? idleTurns + 1 : 0;
    if (idleTurns > 50) throw new Error("somebody waits for ever");
    if (idleTurns === 0) await scheduler.waitNext(1);
  }
  return finished;
}

/** Failing cases print their seed, path, plan and the schedule; `fc.assert(…, { seed, path })` replays one. */
async function explore(
  plans: fc.Arbitrary<Plan>,
  check: (course: Course, plan: Plan) => void,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(plans, fc.scheduler(), async (plan, scheduler) => {
      check(await run(plan, scheduler), plan);
    }),
    { numRuns: 500 },
  );
}

function checkEveryRun({ store, published, completedEarly, unfinished }: Course): void {
  expect(completedEarly).toEqual([]);
  expect(unfinished).toBe(0);
  for (const [lcid, keys] of published) expect(store.rows.get(lcid)).toHaveLength(keys.length);
}

test("every schedule decides each lane in publish order, one transaction of a lane at a time, and ends every job after its event", async () => {
  await explore(smoothPlan, (course, plan) => {
    checkEveryRun(course);
    expect(Object.fromEntries(course.store.rows)).toEqual(Object.fromEntries(course.published));
    expect(course.store.mostAtOnce).toBe(1);
    expect(course.store.largestGroup).toBeLessThanOrEqual(plan.commitLanes);
  });
}, 120_000);

test("processes that stop hand their waiting jobs back, finish what is in a transaction, and lose nothing", async () => {
  await explore(stoppingPlan, (course) => {
    checkEveryRun(course);
    expect(Object.fromEntries(course.store.rows)).toEqual(Object.fromEntries(course.published));
    expect(course.store.mostAtOnce).toBe(1);
  });
}, 120_000);

test("order and ends survive unanswered lane steps, passing database trouble and lost leases", async () => {
  await explore(roughPlan, (course) => {
    checkEveryRun(course);
    expect(Object.fromEntries(course.store.rows)).toEqual(Object.fromEntries(course.published));
  });
}, 120_000);

test("processes that die in the middle of anything lose nothing, double nothing and invert nothing", async () => {
  await explore(dyingPlan, (course) => {
    checkEveryRun(course);
    expect(Object.fromEntries(course.store.rows)).toEqual(Object.fromEntries(course.published));
  });
}, 120_000);

test("events that were never queued are decided once each when their jobs come, and end their jobs", async () => {
  await explore(unqueuedPlan, (course) => {
    checkEveryRun(course);
    expect(course.store.mostAtOnce).toBe(1);
  });
}, 120_000);
