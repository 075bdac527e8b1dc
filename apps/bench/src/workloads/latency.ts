import { trafficOf } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import type { Contender } from "../contenders/contender.ts";
import { columns } from "../report/columns.ts";
import { duration, times, whole } from "../report/figures.ts";
import type { LatencyRow } from "../results.ts";
import { placesOf } from "../rounds/judging.ts";
import { startLive, type Live } from "../rounds/live.ts";
import { median } from "../rounds/statistics.ts";
import { workedOff } from "../rounds/working-off.ts";
import { backlogRate } from "./measuring/backlog-rate.ts";
import { queuesOf, runOf } from "./measuring/own.ts";
import { offer } from "./measuring/pacing.ts";
import { medianSpread, spreadOf, tookMsOf, type Spread } from "./measuring/spread.ts";
import { inTurn, Rounds } from "./measuring/turns.ts";
import type { Stage, Workload } from "./workload.ts";

export interface LatencyOptions {
  /** Shares (0…1) of a contender's own backlog rate. */
  readonly loads: readonly number[];
  /** How long each share is offered. */
  readonly offeredMs: number;
  /** Events that warm a contender up; what it gets by default when left out. */
  readonly warmUp?: number;
}

interface Offered extends Spread {
  readonly perSecond: number;
  readonly inversions: number;
  readonly lost: number;
}

const ORDERS = 10_000;
const percent = (load: number): string => `${Math.round(load * 100)} %`;

/**
 * Publish to decision while events come in at a share of what the contender works off at its best, measured just before in the
 * same process. Ratios: junban ÷ the peer, as `groupmq p50 at 30 %` and `groupmq p99 at 30 %`.
 */
export function latencyOf(options: LatencyOptions): Workload<LatencyRow> {
  return {
    name: "latency",
    what: "publish to decision at 30 % and 70 % of each contender's own rate, uniform orders",
    defaultEvents: 4_000,
    inReport: { withinMs: 30_000, without: ["junban-single", "redlock", "naive-lock"] },
    run: async (stage) => {
      const results = await measure(options, stage);
      return runOf("latency", stage, { results, ratios: ratiosOf(results) });
    },
    table: ({ results, ratios, rounds }) => [
      `latency: publish to decision at a share of each one's own rate, medians of ${rounds}`,
      ...columns([
        ["", "load", "events/s", "p50", "p90", "p99", "slowest", "inversions", "lost", "p99 of junban"],
        ...results.map((row) => [
          row.name,
          percent(row.load),
          whole(row.offeredPerSecond),
          ...[row.p50Ms, row.p90Ms, row.p99Ms, row.maxMs].map(duration),
          whole(row.inversions),
          whole(row.lost),
          ratioCell(ratios[`${row.name} p99 at ${percent(row.load)}`]),
        ]),
      ]),
    ],
  };
}

export const latency: Workload<LatencyRow> = latencyOf({ loads: [0.3, 0.7], offeredMs: 5_000 });

function ratioCell(ratio: number | undefined): string {
  return ratio === undefined ? "" : times(ratio);
}

async function measure(options: LatencyOptions, stage: Stage): Promise<readonly LatencyRow[]> {
  const contenders = queuesOf(stage).filter(({ applies }) => applies);
  const rounds = new Rounds<Offered>();
  for (let round = 0; round < stage.rounds; round += 1) {
    for (const contender of inTurn(contenders, round)) {
      await measureContender(contender, { ...options, stage, round, rounds });
    }
  }
  return contenders.flatMap(({ name }) =>
    options.loads.map((load) => {
      const of = rounds.of(`${name} ${load}`);
      return {
        name,
        load,
        offeredPerSecond: median(of.map(({ perSecond }) => perSecond)),
        ...medianSpread(of),
        inversions: of.reduce((sum, { inversions }) => sum + inversions, 0),
        lost: of.reduce((sum, { lost }) => sum + lost, 0),
      };
    }),
  );
}

/** Its own rate first, then each share of it; on fresh places again only where something was left behind. */
async function measureContender(
  contender: Contender,
  options: LatencyOptions & { stage: Stage; round: number; rounds: Rounds<Offered> },
): Promise<void> {
  const { stage, round, rounds, loads, warmUp } = options;
  const { sandbox, signal, withinMs, say } = stage;
  let starts = 0;
  const start = async (): Promise<Live> => {
    starts += 1;
    const prefix = `latency-${round}-${contender.name}-${starts}`;
    return startLive(contender, { sandbox, prefix, signal, ...(warmUp === undefined ? {} : { warmUp }) });
  };
  let live = await start();
  try {
    const backlog = storiesOf("RATE-", stage.events, stage.seed);
    const { eventsPerSecond, left } = await backlogRate(live, backlog, { withinMs, signal });
    let isClean = left === 0;
    for (const load of inTurn(loads, round)) {
      if (!isClean) {
        await live.stop();
        live = await start();
      }
      const perSecond = load * eventsPerSecond;
      const count = Math.max(1, Math.ceil((perSecond * options.offeredMs) / 1_000));
      const events = storiesOf(`AT-${Math.round(load * 100)}-`, count, stage.seed);
      const offered = await measureLoad(live, { events, perSecond, stage });
      isClean = offered.lost === 0;
      rounds.add(`${contender.name} ${load}`, offered);
      say(
        `round ${round + 1}/${stage.rounds} ${contender.name} at ${percent(load)} (${whole(offered.perSecond)}/s): p50 ${duration(offered.p50Ms)}, p99 ${duration(offered.p99Ms)}`,
      );
    }
  } finally {
    await live.stop();
  }
}

async function measureLoad(
  live: Live,
  { events, perSecond, stage }: { events: readonly EventEnvelope[]; perSecond: number; stage: Stage },
): Promise<Offered> {
  const { signal, withinMs } = stage;
  const offered = await offer(live.carrier, events, { perSecond, signal });
  await workedOff(live, { withinMs, signal });
  const decisions = await live.decisions(events.map(({ lcid }) => lcid));
  const spread = spreadOf(tookMsOf(events, offered, decisions));
  return { ...spread, ...placesOf(events, decisions), perSecond: offered.perSecond };
}

function storiesOf(lcidPrefix: string, events: number, seed: number): readonly EventEnvelope[] {
  return trafficOf({ orders: ORDERS, events, skew: "uniform", seed, lcidPrefix });
}

function ratiosOf(rows: readonly LatencyRow[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    rows
      .filter(({ name }) => name !== "junban")
      .flatMap((row) => {
        const own = rows.find(({ name, load }) => name === "junban" && load === row.load);
        const of = `at ${percent(row.load)}`;
        return [
          [`${row.name} p50 ${of}`, (own?.p50Ms ?? Number.NaN) / row.p50Ms],
          [`${row.name} p99 ${of}`, (own?.p99Ms ?? Number.NaN) / row.p99Ms],
        ];
      }),
  );
}
