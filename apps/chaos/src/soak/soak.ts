import { setTimeout as pause } from "node:timers/promises";
import { Random } from "@junban/order-stories";
import type { Verdict } from "@junban/trial";
import { smallFaults } from "../faults/index.ts";
import { Recoveries } from "../recovery.ts";
import { comeToRest, judge } from "../run.ts";
import { setStage, type Closings, type Servers, type Stage } from "../stage.ts";
import { levelOf, type Levelling } from "./plateau.ts";
import type { Mark } from "./plot.ts";
import { takeVitals, type Vitals } from "./vitals.ts";

export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly servers: Servers;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

export interface SoakReport {
  readonly minutes: number;
  readonly seed: number;
  readonly verdict: Verdict;
  readonly looks: readonly Vitals[];
  readonly marks: readonly Mark[];
  /** Null when the run was too short to tell. */
  readonly levels: readonly Levelling[] | null;
  /** The longest recovery from one of the faults; null when one never came. */
  readonly recoveredMs: number | null;
  /** One sentence for each thing that is wrong. */
  readonly wrong: readonly string[];
  /** One sentence for each recovery that came later than promised. */
  readonly late: readonly string[];
}

const EVENTS_PER_SECOND = 200;
const LOOK_EVERY_MS = 5_000;
const FAULT_EVERY_MS = 20_000;
const SENTENCES_KEPT = 20;

/** A steady load, a small fault now and then, and a look at everything that could grow, every five seconds. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { servers, seed, signal } = options;
  const closings: Closings = [];
  try {
    const stage = await setStage({
      servers,
      eventsPerSecond: EVENTS_PER_SECOND,
      edges: [],
      seed,
      spareOne: true,
      signal,
      closings,
    });
    stage.flow.start();
    const recoveries = new Recoveries(stage);
    const weather = new Weather(stage, recoveries, options);
    const [looks, marks] = await Promise.all([weather.watch(), weather.strike()]);
    await comeToRest(stage, signal);
    const verdict = await judge(stage, { keepsOrder: true }, signal);
    const levels = levelOf(looks);
    const wrong = [...stage.troubles, ...verdict.wrong, ...unlevel(levels)].slice(0, SENTENCES_KEPT);
    const { longestMs, late } = recoveries;
    return {
      minutes: options.minutes,
      seed,
      verdict,
      looks,
      marks,
      levels,
      recoveredMs: longestMs,
      wrong,
      late,
    };
  } finally {
    for (const close of closings.toReversed()) await close().catch(() => undefined);
  }
}

function unlevel(levels: readonly Levelling[] | null): readonly string[] {
  return (levels ?? [])
    .filter(({ isLevel }) => !isLevel)
    .map(({ name, unit, before, after }) =>
      `${name} grew from ${before.toFixed(1)} to ${after.toFixed(1)} ${unit}`.trimEnd(),
    );
}

class Weather {
  readonly #stage: Stage;
  readonly #recoveries: Recoveries;
  readonly #options: SoakOptions;
  readonly #startedMs = performance.now();

  constructor(stage: Stage, recoveries: Recoveries, options: SoakOptions) {
    this.#stage = stage;
    this.#recoveries = recoveries;
    this.#options = options;
  }

  get #isOver(): boolean {
    return performance.now() - this.#startedMs >= this.#options.minutes * 60_000;
  }

  async watch(): Promise<readonly Vitals[]> {
    const { signal, say, minutes } = this.#options;
    const looks: Vitals[] = [];
    while (!this.#isOver) {
      const look = await takeVitals(this.#stage, this.#startedMs);
      if (look !== null) looks.push(look);
      // Once a minute is enough for a person.
      if (look !== null && looks.length % (60_000 / LOOK_EVERY_MS) === 0) {
        const { atSeconds, published } = look;
        say(`${(atSeconds / 60).toFixed(0)} of ${minutes} min: ${published} published`);
      }
      await pause(LOOK_EVERY_MS, undefined, { signal });
    }
    return looks;
  }

  async strike(): Promise<readonly Mark[]> {
    const { signal, say, seed } = this.#options;
    const random = new Random(seed, "soak");
    const marks: Mark[] = [];
    while (!this.#isOver) {
      await pause(random.whole(FAULT_EVERY_MS / 2, (FAULT_EVERY_MS * 3) / 2), undefined, { signal });
      const fault = random.pick(smallFaults);
      const atSeconds = (performance.now() - this.#startedMs) / 1_000;
      const struck = random.whole(0, 1);
      const strike = await fault.strike(this.#stage, { random, struck, runSeconds: 1, signal });
      marks.push({ atSeconds, name: fault.name });
      say(`${fault.name}: ${await this.#recoveries.from({ boundMs: fault.boundMs, ...strike, signal })}`);
      await strike.aftercare?.();
    }
    return marks;
  }
}
