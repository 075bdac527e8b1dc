import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createOrderStore } from "@junban/order-store";
import { trafficOf } from "@junban/order-stories";
import { startProcess } from "@junban/sandbox";
import { unlessAborted } from "@junban/trial";
import type { Ground } from "../contenders/contender.ts";
import { columns } from "../report/columns.ts";
import { times, whole } from "../report/figures.ts";
import type { RelayRow } from "../results.ts";
import { NODE_FLAGS } from "../rounds/alike.ts";
import { environmentOf, startLive } from "../rounds/live.ts";
import { median } from "../rounds/statistics.ts";
import { wholeBacklogRate } from "./measuring/backlog-rate.ts";
import { UndecidedError } from "./measuring/errors.ts";
import { ownOf, runOf } from "./measuring/own.ts";
import { Rounds } from "./measuring/turns.ts";
import type { Stage, Workload } from "./workload.ts";

const RELAY = fileURLToPath(new URL("../../../relay/dist/main.js", import.meta.url));
const ORDERS = 10_000;
const LOOK_EVERY_MS = 10;
const STARTED_WITHIN_MS = 60_000;

export interface RelayOptions {
  /** Events that warm the worker up; what a contender gets by default when left out. */
  readonly warmUp?: number;
  /** The relay's own program. */
  readonly script?: string;
}

/** A worker applies a backlog, and then a relay passes on what came of it: the relay must be the faster one. */
export function relayOf({ warmUp, script = RELAY }: RelayOptions): Workload<RelayRow> {
  return {
    name: "relay",
    what: "how fast a relay passes on what one worker has committed, beside how fast that was",
    defaultEvents: 8_000,
    inReport: { withinMs: 60_000 },
    run: async (stage) => {
      const rates = new Rounds<number>();
      for (let round = 0; round < stage.rounds; round += 1) {
        const prefix = `relay-${round}`;
        const { applied, passedOn } = await roundOf(stage, {
          prefix,
          script,
          ...(warmUp === undefined ? {} : { warmUp }),
        });
        rates.add("worker", applied);
        rates.add("relay", passedOn);
        stage.say(
          `round ${round + 1}/${stage.rounds}: ${whole(applied)} events a second applied, ${whole(passedOn)} passed on`,
        );
      }
      const results = (["worker", "relay"] as const).map((arm) => ({
        arm,
        eventsPerSecond: median(rates.of(arm)),
      }));
      const [worker, relaying] = results;
      const ratio = (relaying?.eventsPerSecond ?? Number.NaN) / (worker?.eventsPerSecond ?? Number.NaN);
      return runOf("relay", stage, { results, ratios: { relay: ratio } });
    },
    table: ({ results, ratios, rounds }) => [
      `relay: uniform events applied by one worker, then passed on by one relay, medians of ${rounds}`,
      ...columns([
        ["", "events/s"],
        ...results.map(({ arm, eventsPerSecond }) => [arm, whole(eventsPerSecond)]),
      ]),
      `relay ÷ worker: ${times(ratios["relay"] ?? Number.NaN)}`,
    ],
  };
}

export const relay: Workload<RelayRow> = relayOf({});

async function roundOf(
  stage: Stage,
  { prefix, script, ...warm }: { prefix: string; script: string; warmUp?: number },
): Promise<{ applied: number; passedOn: number }> {
  const { sandbox, signal, withinMs, events, seed } = stage;
  const live = await startLive(ownOf(stage), { sandbox, prefix, signal, ...warm });
  try {
    const stories = trafficOf({ orders: ORDERS, events, skew: "uniform", seed });
    const applied = await wholeBacklogRate(live, stories, { what: "relay", withinMs, signal });
    await live.stop();
    return { applied, passedOn: await passedOnPerSecond(live.ground, { stage, script }) };
  } finally {
    await live.stop();
  }
}

/** From the last look at which none was gone, so that starting and connecting do not count. */
async function passedOnPerSecond(
  ground: Ground,
  { stage, script }: { stage: Stage; script: string },
): Promise<number> {
  const { signal, withinMs } = stage;
  const store = createOrderStore({ databaseUrl: ground.databaseUrl, worker: "bench" });
  const { outboxUnpublished: all } = await store.gauges();
  const tree = await startProcess({
    command: process.execPath,
    args: [...NODE_FLAGS, script],
    env: { ...environmentOf(ground), ...ownOf(stage).env, JUNBAN_UPDATES_CAP: "10000000" },
  });
  try {
    await unlessAborted(tree.waitForLine("the relay runs", { withinMs: STARTED_WITHIN_MS }), signal);
    const untilMs = performance.now() + withinMs;
    let wholeAtMs = performance.now();
    for (;;) {
      const { outboxUnpublished: left } = await store.gauges();
      const atMs = performance.now();
      if (left === all) wholeAtMs = atMs;
      if (left === 0) return (all / Math.max(1, atMs - wholeAtMs)) * 1_000;
      if (atMs >= untilMs) throw new UndecidedError({ what: "relay", left, of: all });
      await pause(LOOK_EVERY_MS, undefined, { signal });
    }
  } finally {
    await Promise.all([tree.stop({ graceMs: 3_000 }), store.close()]);
  }
}
