import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";

/** How often each kind of thing happened: what an exploration never did, it says nothing about. */
export class Tally {
  readonly #counts = new Map<string, number>();
  #steps = 0;

  /** @param kinds everything that should happen sooner or later. */
  constructor(kinds: readonly string[] = []) {
    for (const kind of kinds) this.#counts.set(kind, 0);
  }

  /** Steps taken, of whatever kind. */
  get steps(): number {
    return this.#steps;
  }

  step(kind: string): void {
    this.#steps += 1;
    this.count(kind);
  }

  /** Something that happened to a step, or through it. */
  count(kind: string): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** What was to be expected and never happened. */
  idle(): string[] {
    return [...this.#counts].filter(([, count]) => count === 0).map(([kind]) => kind);
  }
}

/** A schedule that breaks a promise, made as small as possible. */
export interface Finding {
  readonly exploration: string;
  readonly seed: number;
  /** Leads from the seed to this schedule. */
  readonly path: string;
  /** The first line of what was found. */
  readonly broken: string;
  readonly counterexample: string;
  /** Everything fast-check has to say. */
  readonly report: string;
}

export interface Slice {
  readonly seed: number;
  /** Most schedules. */
  readonly schedules: number;
  /** Asked before each schedule with the number of those behind; true ends the slice. Not asked any more once something is found. */
  readonly stop?: (schedules: number) => boolean;
  /** Ends everything after the schedule under way, also while a finding is made smaller. */
  readonly signal?: AbortSignal;
}

/** How long a finding may be made smaller. */
const SHRINK_MS = 60_000;

type Check = (parameters: fc.Parameters<unknown>) => Promise<fc.RunDetails<unknown>>;

/** One promise to be tried on many random schedules, and what came of it so far. */
export class Exploration {
  readonly name: string;
  readonly tally: Tally;
  readonly #check: Check;
  #schedules = 0;

  private constructor(options: { name: string; tally: Tally; check: Check }) {
    this.name = options.name;
    this.tally = options.tally;
    this.#check = options.check;
  }

  /** @param options.kinds what has to happen sooner or later, or the exploration is idle. */
  static of<Drawn>(options: {
    readonly name: string;
    readonly kinds: readonly string[];
    readonly property: (tally: Tally) => fc.IAsyncProperty<Drawn>;
  }): Exploration {
    const tally = new Tally(options.kinds);
    const property = options.property(tally) as fc.IAsyncProperty<unknown>;
    return new Exploration({
      name: options.name,
      tally,
      check: (parameters) => fc.check(property, parameters),
    });
  }

  /** Schedules tried so far, without those that made a finding smaller. */
  get schedules(): number {
    return this.#schedules;
  }

  /** Tries the schedules of one seed. */
  async explore({ seed, schedules, stop = () => false, signal }: Slice): Promise<Finding | null> {
    return this.#findingIn(await this.#check({ seed, numRuns: schedules, ...stoppedBy(stop, signal) }));
  }

  /** Tries the one schedule to which seed and path lead. */
  async replay({ seed, path }: { readonly seed: number; readonly path: string }): Promise<Finding | null> {
    const once = stoppedBy((schedules) => schedules === 1);
    return this.#findingIn(await this.#check({ seed, path, endOnFailure: true, ...once }));
  }

  #findingIn(details: fc.RunDetails<unknown>): Finding | null {
    this.#schedules += details.numRuns;
    if (!details.failed || details.counterexamplePath === null) return null;
    const error: unknown = details.errorInstance;
    return {
      exploration: this.name,
      seed: details.seed,
      path: details.counterexamplePath,
      broken: (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "",
      counterexample: fc.stringify(details.counterexample),
      report: fc.defaultReportMessage(details) ?? "",
    };
  }
}

/** Ends a run between two schedules. (fast-check's own time limit would also cut the one under way.) */
function stoppedBy(stop: (schedules: number) => boolean, signal?: AbortSignal): fc.Parameters<unknown> {
  let schedules = 0;
  let foundAtMs: number | null = null;
  const isOver = (): boolean => {
    if (signal?.aborted === true) return true;
    return foundAtMs === null ? stop(schedules) : performance.now() - foundAtMs > SHRINK_MS;
  };
  return {
    includeErrorInReport: true,
    plugins: [
      () => ({
        decorateRun: (run) => async (drawn) => {
          // A property that never waits would keep signals and timers from ever being heard.
          await nextTurn();
          if (isOver()) return new fc.PreconditionFailure(true);
          schedules += 1;
          const failure = await run(drawn);
          if (failure !== null && !fc.PreconditionFailure.isFailure(failure)) foundAtMs ??= performance.now();
          return failure;
        },
      }),
    ],
  };
}

/** What to type to see a finding again. */
export function replayCommand({ exploration, seed, path }: Finding): string {
  return `npm run explore -- --only ${exploration} --seed ${seed} --path ${path}`;
}

export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 31);
}

export interface OrdinaryRun {
  readonly schedules: number;
  /** So many are tried however long it takes; a slow machine may end before `schedules`, and the output then says so. */
  readonly atLeast: number;
  /** Default 20000. */
  readonly limitMs?: number;
  /** Default a random one; a failure tells which. */
  readonly seed?: number;
}

/** The share of the ordinary test run: fails on any finding, and on a whole run in which something expected never happened. */
export async function assertExplored(
  exploration: Exploration,
  { schedules, atLeast, limitMs = 20_000, seed = randomSeed() }: OrdinaryRun,
): Promise<void> {
  const startedAtMs = performance.now();
  const finding = await exploration.explore({
    seed,
    schedules,
    stop: (behind) => behind >= atLeast && performance.now() - startedAtMs > limitMs,
  });
  if (finding !== null) {
    throw new Error(`${finding.broken}\n${finding.report}\nReplay: ${replayCommand(finding)}`);
  }
  if (exploration.schedules < schedules) {
    console.warn(
      `${exploration.name}: cut short after ${limitMs} ms with ${exploration.schedules} of ${schedules} schedules (seed ${seed})`,
    );
    return;
  }
  const idle = exploration.tally.idle();
  if (idle.length > 0) {
    throw new Error(
      `${exploration.name}: in ${schedules} schedules of seed ${seed} there was no ${idle.join(", no ")}`,
    );
  }
}
