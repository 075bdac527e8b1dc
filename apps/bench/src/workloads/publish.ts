import { trafficOf } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import type { Carrier } from "../contenders/contender.ts";
import { columns } from "../report/columns.ts";
import { times, whole } from "../report/figures.ts";
import type { PublishRow } from "../results.ts";
import { startLive } from "../rounds/live.ts";
import { median } from "../rounds/statistics.ts";
import { queuesOf, runOf } from "./measuring/own.ts";
import { inTurn, Rounds } from "./measuring/turns.ts";
import type { Stage, Workload } from "./workload.ts";

/** How events are put in: so many a call, so many calls under way. */
interface Way {
  readonly at: number;
  readonly says: string;
  readonly perCall: number;
  readonly calls: number;
  /** Share of the workload's events: the slow way needs fewer to last as long. */
  readonly share: number;
}

const WAYS: readonly Way[] = [
  { at: 1, says: "one call after another", perCall: 1, calls: 1, share: 0.25 },
  { at: 256, says: "256 calls at once", perCall: 1, calls: 256, share: 1 },
  { at: 2_000, says: "2,000 events a call", perCall: 2_000, calls: 1, share: 1 },
];
const ORDERS = 10_000;

export interface PublishOptions {
  /** Events that warm a contender up; what it gets by default when left out. */
  readonly warmUp?: number;
}

/**
 * How fast one producer puts events in, everybody's workers standing still. Ratios: junban ÷ the other, as
 * `bullmq-noop at 2000`; bullmq-noop's is what BullMQ's own bulk call does without lanes.
 */
export function publishOf(options: PublishOptions): Workload<PublishRow> {
  return {
    name: "publish",
    what: "how fast one producer puts events in: one by one, 256 calls at once, 2,000 events a call",
    defaultEvents: 8_000,
    // Those three go the same way into BullMQ as its empty processor.
    inReport: { without: ["junban-single", "redlock", "naive-lock", "pg-row-lock"] },
    run: async (stage) => {
      const results = await measure(options, stage);
      return runOf("publish", stage, { results, ratios: ratiosOf(results) });
    },
    table: ({ results, ratios, rounds }) => [
      `publish: events put in by one producer, medians of ${rounds}`,
      ...columns([
        ["", "at once", "events/s", "junban ÷"],
        ...results.map(({ name, at, eventsPerSecond }) => {
          const ratio = ratios[`${name} at ${at}`];
          return [name, whole(at), whole(eventsPerSecond), ratio === undefined ? "" : times(ratio)];
        }),
      ]),
    ],
  };
}

export const publish: Workload<PublishRow> = publishOf({});

async function measure({ warmUp }: PublishOptions, stage: Stage): Promise<readonly PublishRow[]> {
  const { sandbox, signal, say } = stage;
  const contenders = queuesOf(stage);
  const rates = new Rounds<number>();
  for (let round = 0; round < stage.rounds; round += 1) {
    for (const contender of inTurn(contenders, round)) {
      const live = await startLive(contender, {
        sandbox,
        prefix: `publish-${round}-${contender.name}`,
        signal,
        ...(warmUp === undefined ? {} : { warmUp }),
      });
      live.freeze();
      try {
        for (const way of inTurn(WAYS, round)) {
          const rate = await putIn(live.carrier, { way, stage });
          rates.add(`${contender.name} ${way.at}`, rate);
          say(`round ${round + 1}/${stage.rounds} ${contender.name}, ${way.says}: ${whole(rate)} events/s`);
        }
      } finally {
        await live.stop();
      }
    }
  }
  return contenders.flatMap(({ name }) =>
    WAYS.map(({ at }) => ({ name, at, eventsPerSecond: median(rates.of(`${name} ${at}`)) })),
  );
}

/** Events put in a second; of those that were, where the time of a round is over first. */
async function putIn(
  carrier: Pick<Carrier, "publish">,
  { way, stage }: { way: Way; stage: Stage },
): Promise<number> {
  const events = storiesOf(way, stage);
  const startedMs = performance.now();
  let taken = 0;
  let stored = 0;
  const producers = Array.from({ length: way.calls }, async () => {
    while (taken < events.length && performance.now() - startedMs < stage.withinMs) {
      stage.signal.throwIfAborted();
      const some = events.slice(taken, taken + way.perCall);
      taken += some.length;
      await carrier.publish(some);
      stored += some.length;
    }
  });
  await Promise.all(producers);
  return stored / ((performance.now() - startedMs) / 1_000);
}

function storiesOf({ at, share }: Way, { events, seed }: Stage): readonly EventEnvelope[] {
  const count = Math.max(1, Math.ceil(events * share));
  return trafficOf({ orders: ORDERS, events: count, skew: "uniform", seed, lcidPrefix: `AT-${at}-` });
}

function ratiosOf(rows: readonly PublishRow[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    rows
      .filter(({ name }) => name !== "junban")
      .map(({ name, at, eventsPerSecond }) => {
        const own = rows.find((row) => row.name === "junban" && row.at === at)?.eventsPerSecond;
        return [`${name} at ${at}`, (own ?? Number.NaN) / eventsPerSecond];
      }),
  );
}
