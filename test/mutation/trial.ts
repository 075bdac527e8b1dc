import type { Guard } from "./guards/guard.ts";
import type { Servers } from "./servers.ts";
import { byFile, runTests } from "./test-run.ts";
import type { TestRunOptions } from "./test-run.ts";
import { TreeCopy } from "./tree-copy.ts";
import { flawOf, verdictOf } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";

export interface Trial {
  readonly guard: Guard;
  readonly verdict: Verdict;
  readonly tookMs: number;
}

export interface TrialsOptions {
  readonly root: string;
  readonly servers: Servers;
  /** How many copies are worked in at the same time. */
  readonly parallel: number;
  readonly signal: AbortSignal;
}

/** Longest run of one test file, milliseconds. */
const WITHIN_MS = 120_000;
/** What a test may take that is expected to hang, milliseconds. */
const HANGS_AFTER_MS = 15_000;

/** Takes guards out, one at a time in each of a few copies of the checkout. The checkout itself is only read. */
export class Trials {
  readonly #options: TrialsOptions;
  readonly #copies: TreeCopy[] = [];

  private constructor(options: TrialsOptions) {
    this.#options = options;
  }

  static async open(options: TrialsOptions): Promise<Trials> {
    const trials = new Trials(options);
    try {
      for (let count = 0; count < options.parallel; count += 1) {
        trials.#copies.push(await TreeCopy.of(options.root));
      }
    } catch (error) {
      await trials.close();
      throw error;
    }
    return trials;
  }

  /** Runs all tests that the guards name while every guard is in its place. Answers with what is not green. */
  async flaws(guards: readonly Guard[]): Promise<readonly string[]> {
    const flaws: string[] = [];
    const wanted = byFile(guards.flatMap(({ tests }) => tests));
    await this.#inCopies([...wanted], async ([file, titles], copy) => {
      const run = await this.#run(copy, {
        file,
        withinMs: 2 * WITHIN_MS,
        ...(titles === undefined ? {} : { titles }),
      });
      const flaw = flawOf(run, titles);
      if (flaw !== null) flaws.push(`${file}: ${flaw}`);
    });
    return flaws;
  }

  /** Takes out one guard after another; `told` hears of each as soon as it is known. Answers in the order of the guards. */
  async takeOut(guards: readonly Guard[], told: (trial: Trial) => void): Promise<readonly Trial[]> {
    const trials = new Map<Guard, Trial>();
    await this.#inCopies(guards, async (guard, copy) => {
      const startMs = performance.now();
      const verdict = await copy.without(guard, () => this.#verdict(guard, copy));
      const trial = { guard, verdict, tookMs: Math.round(performance.now() - startMs) };
      trials.set(guard, trial);
      told(trial);
    });
    return guards.flatMap((guard) => trials.get(guard) ?? []);
  }

  async close(): Promise<void> {
    await Promise.all(this.#copies.map((copy) => copy.remove()));
  }

  /** The first red test counts; a run that is red for another reason ends the search, for the next would be no better. */
  async #verdict(guard: Guard, copy: TreeCopy): Promise<Verdict> {
    const { hangs = false } = guard;
    for (const { file, title } of guard.tests) {
      const run = await this.#run(copy, {
        file,
        withinMs: WITHIN_MS,
        ...(title === undefined ? {} : { titles: [title] }),
        ...(hangs ? { testTimeoutMs: HANGS_AFTER_MS } : {}),
      });
      const verdict = verdictOf(run, { hangs });
      if (verdict.kind !== "missed") return verdict;
    }
    return { kind: "missed" };
  }

  #run(
    { folder }: TreeCopy,
    wanted: Omit<TestRunOptions, "folder" | "env" | "signal">,
  ): ReturnType<typeof runTests> {
    const { servers, signal } = this.#options;
    return runTests({ ...wanted, folder, env: servers.env, signal });
  }

  async #inCopies<Item>(
    items: readonly Item[],
    work: (item: Item, copy: TreeCopy) => Promise<void>,
  ): Promise<void> {
    const left = items.values();
    const workers = this.#copies.map(async (copy) => {
      for (const item of left) await work(item, copy);
    });
    const ends = await Promise.allSettled(workers);
    const failed = ends.find(({ status }) => status === "rejected");
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason as Error;
  }
}
