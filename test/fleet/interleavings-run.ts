import { setImmediate as nextTurn } from "node:timers/promises";
import type { IncomingJob, JobEnd } from "@junban/event-queues";
import type { Turn } from "@junban/handoff-lock";
import { readEnvelope, requestOf } from "@junban/orders";
import type fc from "fast-check";
import { createFleetWorker } from "../../apps/worker/src/index.ts";
import type { FleetWorker } from "../../apps/worker/src/index.ts";
import type { Tally } from "../support/exploration.ts";
import type { LanesPort } from "./interleavings-lanes.ts";
import { lanesPort, ModelLanes } from "./interleavings-lanes.ts";
import type { Plan } from "./interleavings-plan.ts";
import type { ModelLane } from "./interleavings-redis.ts";
import { ModelRedis } from "./interleavings-redis.ts";
import { Misfortunes, Steps } from "./interleavings-steps.ts";
import { ModelStore, storePort } from "./interleavings-store.ts";

/** What one run led to. */
export interface Course {
  readonly store: ModelStore;
  /** Keys by lcid, in publish order. */
  readonly published: ReadonlyMap<string, readonly string[]>;
  /** Keys whose job ended before they had a row. */
  readonly completedEarly: readonly string[];
  /** What the jobs and everybody else failed with. */
  readonly failures: readonly unknown[];
  /** Keys that stood in a lane when every job had ended, and had one. */
  readonly leftStanding: readonly string[];
  /** Lanes that were held, or in which something stood, when all was over. */
  readonly notFree: readonly string[];
}

export interface RunOptions {
  readonly plan: Plan;
  readonly scheduler: fc.Scheduler;
  readonly tally: Tally;
  /** Tampers with the lanes of every process: to see that it would be found out. */
  readonly spoil: (lanes: LanesPort) => LanesPort;
}

interface World {
  readonly plan: Plan;
  readonly steps: Steps;
  readonly tally: Tally;
  readonly redis: ModelRedis;
  readonly store: ModelStore;
  readonly processes: readonly ModelProcess[];
  readonly visitor: ModelLanes;
}

interface Job {
  readonly lcid: string;
  readonly key: string;
  readonly data: object;
  readonly process: number;
}

interface ModelProcess {
  readonly fleet: FleetWorker;
  readonly lanes: ModelLanes;
  fetch(job: IncomingJob): Promise<JobEnd | "died">;
  /** Stopped or dead: it fetches no more. */
  gone: boolean;
  die(): void;
}

/** Real workers over lanes and a store in memory; the scheduler decides who goes on at every step of theirs. */
export async function run(options: RunOptions): Promise<Course> {
  const world = createWorld(options);
  const { plan, redis, store, processes } = world;
  const published = new Map<string, string[]>();
  const jobs: Job[] = [];
  for (const [number, { order, process, copies }] of plan.events.entries()) {
    const { lcid, data } = eventOf(order, number);
    const request = keyOf(data);
    published.set(lcid, [...(published.get(lcid) ?? []), request.key]);
    if (plan.unqueued[number] !== true) redis.queue(lcid, request);
    const made = plan.jobless[number] === true ? 0 : copies;
    for (let copy = 0; copy < made; copy += 1) jobs.push({ lcid, key: request.key, data, process });
  }
  const completedEarly: string[] = [];
  const carried = jobs.map(async (job) => {
    await carry(world, job);
    if (!store.isSettled(job.lcid, job.key)) completedEarly.push(job.key);
  });
  const ends = await driveToEnd(
    options.scheduler,
    Promise.allSettled([...carried, ...everythingElse(world)]),
  );
  const hadJobs = new Set(jobs.map(({ key }) => key));
  const leftStanding = redis.lanes.flatMap(([, { wait }]) => wait.map(({ key }) => key));
  // Whatever never had a job is the sweeper's.
  const sweeps = [...published.keys()].map((lcid) => visit(world, { lcid, does: "serves" }));
  const swept = await driveToEnd(options.scheduler, Promise.allSettled(sweeps));
  // Nothing of this run may tick on into the next one.
  await Promise.all(processes.map(({ fleet }) => fleet.stop({ deadlineMs: 0 })));
  return {
    store,
    published,
    completedEarly,
    failures: [...ends, ...swept].flatMap((end) =>
      end.status === "rejected" ? [end.reason as unknown] : [],
    ),
    leftStanding: leftStanding.filter((key) => hadJobs.has(key)),
    notFree: redis.lanes.flatMap(([lcid, lane]) => (isFree(lane) ? [] : [lcid])),
  };
}

function createWorld({ plan, scheduler, tally, spoil }: RunOptions): World {
  const steps = new Steps({ scheduler, tally });
  const words = new Misfortunes({ drawn: plan.wordMisfortunes, of: "word", tally });
  const misfortunes = new Misfortunes({ drawn: plan.laneMisfortunes, of: "lane step", tally });
  const redis = new ModelRedis({ words });
  const store = new ModelStore({
    steps,
    misfortunes: new Misfortunes({ drawn: plan.storeMisfortunes, of: "store", tally }),
  });
  const { batch } = plan;
  const processes = Array.from({ length: plan.processes }, () => {
    const lanes = new ModelLanes({ redis, steps, batch, misfortunes });
    return startProcess({ plan, lanes, port: spoil(lanesPort(lanes)), store });
  });
  const visitor = new ModelLanes({
    redis,
    steps,
    batch,
    misfortunes: new Misfortunes({ drawn: [], of: "visitor", tally }),
  });
  return { plan, steps, tally, redis, store, processes, visitor };
}

/** A job that stepped back is fetched again, by whichever process comes first. */
async function carry({ steps, processes }: World, job: Job): Promise<void> {
  for (let fetches = 0; fetches < 200; fetches += 1) {
    await steps.take("fetch", job.lcid);
    const running = processes.filter(({ gone }) => !gone);
    const fetcher = running[(job.process + fetches) % running.length]!;
    const { key: id, data } = job;
    const end = await fetcher.fetch({ id, family: "line-item", name: "", data, stepsBack: fetches });
    if (end !== "died" && end.kind === "completed") return;
  }
  throw new Error(`the job of ${job.key} did not end`);
}

/** Everything that happens to the fleet, each at a moment of the scheduler's. */
function everythingElse(world: World): Promise<void>[] {
  const { plan, steps, tally, redis, processes } = world;
  const losses = plan.leasesLost.map(async (order) => {
    await steps.take("lose lease", `order-${order}`);
    if (redis.lane(`order-${order}`).token !== null) tally.count("lease lost");
    redis.loseLease(`order-${order}`);
    await steps.take("notice lost leases", "");
    for (const { lanes } of processes) lanes.noticeLostLeases();
  });
  const vanishings = plan.lanesLost.map(async (order) => {
    await steps.take("lose lane", `order-${order}`);
    redis.loseLane(`order-${order}`);
  });
  const stops = plan.stops.map(async (which) => {
    await steps.take("stop", `process ${which}`);
    const stopping = processes[which];
    if (stopping === undefined || stopping.gone) return;
    tally.count("process stopped");
    stopping.gone = true;
    await stopping.fleet.stop({ deadlineMs: 60_000 });
  });
  const deaths = plan.deaths.map(async (which) => {
    await steps.take("die", `process ${which}`);
    const dying = processes[which];
    if (dying === undefined || dying.gone) return;
    tally.count("process died");
    dying.die();
  });
  const visits = plan.visits.map(({ order, does }) => visit(world, { lcid: `order-${order}`, does }));
  return [...losses, ...vanishings, ...stops, ...deaths, ...visits];
}

/** A sweeper or an operator takes the lane if it is free; it leaves it, serves it to the end, or is gone. */
async function visit(
  { steps, tally, redis, store, visitor }: World,
  { lcid, does }: { lcid: string; does: Plan["visits"][number]["does"] },
): Promise<void> {
  await steps.take("visit", lcid);
  const entry = await visitor.enter(lcid);
  if (entry.kind !== "turn") return;
  const { turn } = entry;
  tally.count(`visitor ${does}`);
  if (does === "vanishes") {
    await steps.take("lapse", lcid);
    if (redis.lane(lcid).token === turn.token) redis.loseLease(lcid);
    return;
  }
  if (does === "serves") await serve(turn, store.of({ dead: false }));
  await turn.leave();
}

async function serve(turn: Turn, apply: ReturnType<ModelStore["of"]>): Promise<void> {
  let { requests } = turn;
  while (requests.length > 0) {
    const [result] = await apply([{ lcid: turn.lcid, requests, deadlineMs: turn.deadlineMs() }]);
    const settled = (result?.settled ?? []).map(({ key, outcome }) => ({ key, value: outcome }));
    const answer = await turn.handOff(settled);
    if (answer.kind !== "next") return;
    ({ requests } = answer);
  }
}

/** One fleet process over the model: everything real but the queue and the servers. */
function startProcess(options: {
  plan: Plan;
  lanes: ModelLanes;
  port: LanesPort;
  store: ModelStore;
}): ModelProcess {
  const { plan, lanes, port, store } = options;
  let fetch: (job: IncomingJob) => Promise<JobEnd> = () =>
    Promise.reject(new Error("nothing is consumed yet"));
  let active = 0;
  let died: () => void = () => {};
  const death = new Promise<"died">((resolve) => {
    died = () => resolve("died");
  });
  const process = { gone: false };
  const fleet = createFleetWorker({
    config: {
      leaseMs: 10_000,
      laneBatch: plan.batch,
      quantumMs: plan.yieldsAlways ? 0 : 3_600_000,
      waitMs: plan.seatsNeverRest ? 0 : 3_600_000,
      commitLanes: plan.commitLanes,
      commitParallel: plan.commitParallel,
      crashAlone: plan.crashAlone,
      crashGiveUp: plan.crashGiveUp,
    },
    lanes: port,
    maintenance: port,
    store: storePort(store.of(lanes)),
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
    lanes,
    // A job whose process dies stalls, and comes again.
    fetch: (job: IncomingJob) => Promise.race([fetch(job), death]),
    die: () => {
      process.gone = true;
      lanes.die();
      died();
    },
  });
}

const NO_LINES = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function isFree({ token, wait }: ModelLane): boolean {
  return token === null && wait.length === 0;
}

function eventOf(order: number, number: number): { lcid: string; data: object } {
  const lcid = `order-${order}`;
  const envelope = { specversion: "1.0", id: `e${number}`, source: "/model", type: "line.added", lcid };
  return { lcid, data: { ...envelope, data: { number } } };
}

function keyOf(data: object): { key: string; body: string } {
  const reading = readEnvelope(data);
  if (reading.kind !== "usable") throw new Error(`${reading.field}: ${reading.rule}`);
  const { key, body } = requestOf(reading.envelope);
  return { key, body };
}

/** Lets the scheduler take its steps until the work is done and no step is left. Work that waits for none waits for ever. */
async function driveToEnd<T>(scheduler: fc.Scheduler, work: Promise<T>): Promise<T> {
  const progress = { done: false };
  const finished = work.finally(() => {
    progress.done = true;
  });
  let idleTurns = 0;
  while (!progress.done || scheduler.count() > 0) {
    await nextTurn();
    idleTurns = scheduler.count() === 0 ? idleTurns + 1 : 0;
    if (idleTurns > 50) throw new Error("somebody waits for ever");
    if (idleTurns === 0) await scheduler.waitNext(1);
  }
  return finished;
}
