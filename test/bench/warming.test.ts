import type { EventEnvelope } from "@junban/orders";
import type { ProcessTree } from "@junban/sandbox";
import { expect, test } from "vitest";
import type { Contender } from "../../apps/bench/src/contenders/contender.ts";
import { WARMING } from "../../apps/bench/src/rounds/alike.ts";
import { warm } from "../../apps/bench/src/rounds/warming.ts";

/** The portions that somebody gets who needs so long for each of them. */
async function portionsOf(options: {
  readonly events: number;
  readonly portions: number;
  readonly tookMs: (portion: number) => number;
}): Promise<readonly (readonly EventEnvelope[])[]> {
  const portions: (readonly EventEnvelope[])[] = [];
  let doneAtMs = 0;
  const live = {
    contender: { name: "somebody" } as Contender,
    // Its process runs on.
    trees: [{ exited: new Promise(() => undefined) } as unknown as ProcessTree],
    carrier: {
      publish: async (events: readonly EventEnvelope[]) => {
        doneAtMs = performance.now() + options.tookMs(portions.length);
        portions.push(events);
      },
      left: async () => (performance.now() < doneAtMs ? 1 : 0),
      close: async () => undefined,
    },
  };
  await warm(live, { ...options, signal: new AbortController().signal });
  return portions;
}

function ordersOf(events: readonly EventEnvelope[] = []): number {
  return new Set(events.map(({ lcid }) => lcid)).size;
}

test("whoever is quick is warmed up with many orders and one in turn, the one beginning small", async () => {
  const portions = await portionsOf({ events: 80, portions: 9, tookMs: () => 0 });
  expect(portions.map(({ length }) => length)).toEqual([80, 10, 80, 20, 80, 40, 80, 80, 80]);
  expect(ordersOf(portions[0])).toBeGreaterThan(10);
  expect(ordersOf(portions[1])).toBe(1);
});

test("whoever took long for a portion gets no further one", async () => {
  const tookMs = (portion: number): number => (portion === 1 ? WARMING.soonMs + 50 : 0);
  expect(await portionsOf({ events: 80, portions: 9, tookMs })).toHaveLength(2);
});

test("one portion is exactly as many events as were asked for, and none of none", async () => {
  expect(await portionsOf({ events: 20, portions: 1, tookMs: () => 0 })).toMatchObject({ length: 1 });
  expect(await portionsOf({ events: 0, portions: 9, tookMs: () => 0 })).toEqual([]);
});
