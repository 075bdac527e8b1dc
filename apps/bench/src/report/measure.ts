import type { Contender } from "../contenders/contender.ts";
import type { Stage, Workload } from "../workloads/workload.ts";
import type { Kept, KeptContender, KeptWorkload, Sitting } from "./kept.ts";

/** What every workload is run with, whichever it is. */
export type CommonStage = Omit<Stage, "events" | "rounds" | "seed" | "withinMs">;

export interface MeasureOptions {
  /** In the order in which they are run. */
  readonly workloads: readonly Workload<unknown>[];
  /** What is kept already; its workloads are not run again unless `again` names them. */
  readonly before: Kept | null;
  readonly again: readonly string[];
  readonly quick: boolean;
  readonly sitting: Sitting;
  /** What was run with the same effort before, to tell how long this run may take. */
  readonly earlier: readonly KeptWorkload[];
  readonly stage: CommonStage;
  /** Called with everything so far whenever a workload has ended. */
  readonly keep: (kept: Kept) => Promise<void>;
}

/** How often and how long. A quick run is as small as shows that everything works. */
interface Effort {
  readonly events: number;
  readonly rounds: number;
  readonly withinMs: number;
}

const SEED = 1;
const ROUNDS = 3;
const WITHIN_MS = 20_000;
const QUICK = { events: 400, rounds: 1, withinMs: 20_000 } as const;

export interface Measurement {
  /** What is kept now; null when nothing is. */
  readonly kept: Kept | null;
  /** Workloads that broke off. */
  readonly failed: readonly string[];
}

/**
 * Runs the workloads one after another. One that throws is named and costs nothing but itself: what was kept of it stays. Throws
 * only when the run is ended, or when nothing can be kept.
 */
export async function measure(options: MeasureOptions): Promise<Measurement> {
  const { before, again, quick, sitting, stage } = options;
  const missing = options.workloads.filter(
    ({ name }) => again.includes(name) || (before?.workloads ?? []).every(({ run }) => run.workload !== name),
  );
  const workloads = new Map((before?.workloads ?? []).map((entry) => [entry.run.workload, entry]));
  const sittings = [...(before?.sittings ?? []), sitting];
  const keptSoFar = (): Kept => ({
    quick: quick || (before?.quick ?? false),
    sittings,
    contenders: stage.contenders.map(toldOf),
    workloads: [...workloads.values()],
  });
  const failed: string[] = [];
  for (const [index, workload] of missing.entries()) {
    stage.signal.throwIfAborted();
    const expected = expectation(missing.slice(index), options);
    stage.say(`workload ${index + 1} of ${missing.length}, ${workload.name}: ${workload.what}; ${expected}`);
    const one = await unlessItFails(workload, { stage, quick, sitting: sittings.length - 1 });
    if (one === null) {
      failed.push(workload.name);
      continue;
    }
    workloads.set(workload.name, one);
    await options.keep(keptSoFar());
  }
  // Without anything new it is as it was measured, settings of the contenders included.
  return { kept: failed.length === missing.length ? before : keptSoFar(), failed };
}

interface Measuring {
  readonly stage: CommonStage;
  readonly quick: boolean;
  readonly sitting: number;
}

/** Null, and the reason said, where it throws for any reason but that the run is ended. */
async function unlessItFails(
  workload: Workload<unknown>,
  measuring: Measuring,
): Promise<KeptWorkload | null> {
  const { signal, say } = measuring.stage;
  try {
    return await measured(workload, measuring);
  } catch (error) {
    signal.throwIfAborted();
    say(
      `workload ${workload.name} broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    return null;
  }
}

async function measured(
  workload: Workload<unknown>,
  { stage, quick, sitting }: Measuring,
): Promise<KeptWorkload> {
  const effort = effortOf(workload, quick);
  const left = workload.inReport?.without ?? [];
  const contenders = stage.contenders.filter(({ name }) => !left.includes(name));
  const startedMs = performance.now();
  const run = await workload.run({ ...stage, ...effort, contenders, seed: SEED });
  for (const line of workload.table(run)) stage.say(line);
  const tookMs = Math.round(performance.now() - startedMs);
  return { sitting, what: workload.what, tookMs, withinMs: effort.withinMs, run };
}

function toldOf({ name, version, what, settings, promises, applies }: Contender): KeptContender {
  return { name, version, what, settings, promises, applies };
}

function effortOf({ defaultEvents, inReport = {} }: Workload<unknown>, quick: boolean): Effort {
  if (quick) return { ...QUICK, events: Math.min(QUICK.events, defaultEvents) };
  const { rounds = ROUNDS, withinMs = WITHIN_MS } = inReport;
  return { events: defaultEvents, rounds, withinMs };
}

/** What an earlier run took for the same; without one nobody knows, and that is said. */
function expectation(
  [next, ...rest]: readonly Workload<unknown>[],
  { earlier, quick }: MeasureOptions,
): string {
  const tookMs = (workload: Workload<unknown>): number | null =>
    earlier.find(({ run }) => run.workload === workload.name)?.tookMs ?? null;
  const nextMs = next === undefined ? null : tookMs(next);
  const cutOffMs = quick ? QUICK.withinMs : WITHIN_MS;
  const others = rest.map(tookMs).filter((ms) => ms !== null);
  return [
    nextMs === null
      ? `never measured here, so nobody knows how long it takes; a round is cut off after ${minutes(cutOffMs)}`
      : `about ${minutes(nextMs)}`,
    ...(rest.length === 0 || others.length < rest.length
      ? []
      : [`then about ${minutes(others.reduce((sum, ms) => sum + ms, 0))} for the others`]),
  ].join(", ");
}

function minutes(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000);
  return seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
