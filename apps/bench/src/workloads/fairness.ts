import { columns } from "../report/columns.ts";
import { counted, duration, times, whole } from "../report/figures.ts";
import type { FairnessRow } from "../results.ts";
import { besideFlood } from "./measuring/beside-flood.ts";
import { FloodEndedError } from "./measuring/errors.ts";
import { Flood, singlesOf, type FairnessArm } from "./measuring/flood.ts";
import { ownOf, runOf } from "./measuring/own.ts";
import { medianSpread, type Spread } from "./measuring/spread.ts";
import { inTurn, Rounds } from "./measuring/turns.ts";
import type { Stage, Workload } from "./workload.ts";

export interface FairnessOptions {
  /** Orders beside the flooded one, with one event each. */
  readonly others: number;
  /** Pace of their events, the same in every arm. */
  readonly perSecond: number;
  /** Events a call of the flood that is being published beside them. */
  readonly floodCall: number;
  /** How often a flood that was over too soon may be doubled. */
  readonly doublings: number;
  /** Events that warm the worker up; what a contender gets by default when left out. */
  readonly warmUp?: number;
}

const ARMS: readonly FairnessArm[] = ["quiet", "flooded", "flooding"];
const ARM_NAMES: Readonly<Record<FairnessArm, string>> = {
  quiet: "no flood",
  flooded: "flood worked off",
  flooding: "flood published",
};

export function fairnessOf(options: FairnessOptions): Workload<FairnessRow> {
  return {
    name: "fairness",
    what: "single events of other orders, without a flood on one order and beside it: publish to decision",
    defaultEvents: 40_000,
    // A p99 of some hundred single events is a handful of them, and goes up and down from round to round.
    inReport: { withinMs: 60_000, rounds: 9 },
    run: async (stage) => {
      const rows = await measure(options, stage);
      return runOf("fairness", stage, { results: rows, ratios: ratiosOf(rows) });
    },
    table: ({ results, ratios, rounds }) => [
      `fairness: single events of other orders, publish to decision, medians of ${rounds}`,
      ...columns([
        ["", "flood", "others", "p50", "p99", "slowest"],
        ...results.map(({ arm, flood, others, p50Ms, p99Ms, maxMs }) => [
          ARM_NAMES[arm],
          whole(flood),
          whole(others),
          ...[p50Ms, p99Ms, maxMs].map(duration),
        ]),
      ]),
      ...(["", "Flooding"] as const).map((arm) => {
        const [p50, p99] = [ratios[`p50${arm}`] ?? Number.NaN, ratios[`p99${arm}`] ?? Number.NaN];
        return `${ARM_NAMES[arm === "" ? "flooded" : "flooding"]} ÷ no flood: p50 ${times(p50)}, p99 ${times(p99)}`;
      }),
    ],
  };
}

/**
 * Five hundred singles take two and a half seconds at this pace, and a worker applies eight thousand events of one order and more
 * in a second: a flood of ten thousand would be over long before the singles are.
 */
export const fairness: Workload<FairnessRow> = fairnessOf({
  others: 500,
  perSecond: 200,
  floodCall: 500,
  doublings: 3,
});

async function measure(options: FairnessOptions, stage: Stage): Promise<readonly FairnessRow[]> {
  const floods = new Map(ARMS.map((arm) => [arm, new Flood({ events: stage.events, seed: stage.seed })]));
  const spreads = new Rounds<Spread>();
  for (let round = 0; round < stage.rounds; round += 1) {
    for (const arm of inTurn(ARMS, round)) {
      const flood = floods.get(arm) as Flood;
      const spread = await measureArm(arm, { round, flood, stage, ...options });
      spreads.add(arm, spread);
      const says = `p50 ${duration(spread.p50Ms)}, p99 ${duration(spread.p99Ms)}`;
      stage.say(`round ${round + 1}/${stage.rounds} ${ARM_NAMES[arm]}: ${says}`);
    }
  }
  return ARMS.map((arm) => {
    const { p50Ms, p99Ms, maxMs } = medianSpread(spreads.of(arm));
    const flood = arm === "quiet" ? 0 : (floods.get(arm) as Flood).events.length;
    return { arm, flood, others: options.others, p50Ms, p99Ms, maxMs };
  });
}

/** A flood that is over before the singles are says nothing: once more, with twice as many. Throws FloodEndedError at the end. */
async function measureArm(
  arm: FairnessArm,
  options: FairnessOptions & { round: number; flood: Flood; stage: Stage },
): Promise<Spread> {
  const { round, flood, stage, others, doublings } = options;
  const singles = singlesOf({ others, seed: stage.seed });
  for (let doubled = 0; ; doubled += 1) {
    const prefix = `fairness-${round}-${arm}-${doubled}`;
    const spread = await besideFlood(ownOf(stage), { ...options, arm, singles, prefix });
    if (spread !== null) return spread;
    const { length } = flood.events;
    if (doubled === doublings) throw new FloodEndedError({ flood: length, others });
    stage.say(`a flood of ${counted(length, "event")} was over too soon: once more with twice as many`);
    flood.double();
  }
}

function ratiosOf(rows: readonly FairnessRow[]): Readonly<Record<string, number>> {
  const of = (wanted: FairnessArm): FairnessRow => rows.find(({ arm }) => arm === wanted) as FairnessRow;
  const [quiet, flooded, flooding] = [of("quiet"), of("flooded"), of("flooding")];
  return {
    p50: flooded.p50Ms / quiet.p50Ms,
    p99: flooded.p99Ms / quiet.p99Ms,
    p50Flooding: flooding.p50Ms / quiet.p50Ms,
    p99Flooding: flooding.p99Ms / quiet.p99Ms,
  };
}
