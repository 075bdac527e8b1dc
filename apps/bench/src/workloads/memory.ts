import { setTimeout as pause } from "node:timers/promises";
import { trafficOf } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import { columns } from "../report/columns.ts";
import { bytes, times, whole } from "../report/figures.ts";
import type { MemoryRow } from "../results.ts";
import { startLive, type Live } from "../rounds/live.ts";
import { median } from "../rounds/statistics.ts";
import { workedOff } from "../rounds/working-off.ts";
import { UndecidedError } from "./measuring/errors.ts";
import { ownOf, runOf } from "./measuring/own.ts";
import { Rounds } from "./measuring/turns.ts";
import type { Stage, Workload } from "./workload.ts";

export interface MemoryOptions {
  /** Published at once; the next ones follow when they are worked off. */
  readonly chunk: number;
  /** Events that warm the worker up; what a contender gets by default when left out. */
  readonly warmUp?: number;
}

const ORDERS = 10_000;
const LOOKS = 15;
const LOOK_EVERY_MS = 100;

/** What one worker process holds after a tenth of the events and after all of them, its garbage collected whenever it likes. */
export function memoryOf(options: MemoryOptions): Workload<MemoryRow> {
  return {
    name: "memory",
    what: "resident memory of one worker process after a tenth of the events and after all of them",
    defaultEvents: 100_000,
    inReport: { withinMs: 60_000 },
    run: async (stage) => {
      const results = await measure(options, stage);
      const [few, many] = results;
      return runOf("memory", stage, {
        results,
        ratios: { resident: (many?.residentBytes ?? Number.NaN) / (few?.residentBytes ?? Number.NaN) },
      });
    },
    table: ({ results, ratios, rounds }) => [
      `memory: resident memory of one worker process, medians of ${rounds}`,
      ...columns([
        ["after", "resident"],
        ...results.map(({ events, residentBytes }) => [`${whole(events)} events`, bytes(residentBytes)]),
      ]),
      `all events ÷ a tenth: ${times(ratios["resident"] ?? Number.NaN)}`,
    ],
  };
}

export const memory: Workload<MemoryRow> = memoryOf({ chunk: 2_000 });

async function measure(options: MemoryOptions, stage: Stage): Promise<readonly MemoryRow[]> {
  const marks = [Math.ceil(stage.events / 10), stage.events];
  const events = trafficOf({ orders: ORDERS, events: stage.events, skew: "uniform", seed: stage.seed });
  const resident = new Rounds<number>();
  for (let round = 0; round < stage.rounds; round += 1) {
    const live = await startLive(ownOf(stage), {
      sandbox: stage.sandbox,
      prefix: `memory-${round}`,
      signal: stage.signal,
      ...(options.warmUp === undefined ? {} : { warmUp: options.warmUp }),
    });
    try {
      let behind = 0;
      for (const mark of marks) {
        await workThrough(live, { events: events.slice(behind, mark), chunk: options.chunk, stage });
        behind = mark;
        const residentBytes = await residentBytesOf(live, stage);
        resident.add(String(mark), residentBytes);
        stage.say(
          `round ${round + 1}/${stage.rounds} after ${whole(mark)} events: ${bytes(residentBytes)} resident`,
        );
      }
    } finally {
      await live.stop();
    }
  }
  return marks.map((mark) => ({ events: mark, residentBytes: median(resident.of(String(mark))) }));
}

async function workThrough(
  live: Live,
  { events, chunk, stage }: { events: readonly EventEnvelope[]; chunk: number; stage: Stage },
): Promise<void> {
  const { withinMs, signal } = stage;
  for (let start = 0; start < events.length; start += chunk) {
    const some = events.slice(start, start + chunk);
    await live.carrier.publish(some);
    const { left } = await workedOff(live, { withinMs, signal });
    if (left > 0) throw new UndecidedError({ what: "memory", left, of: some.length });
  }
}

/** Several looks, because a collection may just be due or just be over. */
async function residentBytesOf(live: Live, { signal }: Stage): Promise<number> {
  const looks: number[] = [];
  while (looks.length < LOOKS) {
    looks.push(await live.residentBytes());
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  return median(looks);
}
