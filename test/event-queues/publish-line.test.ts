import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { LaneUnavailableError } from "@junban/handoff-lock";
import type { QueueEntry, QueueResult } from "@junban/handoff-lock";
import fc from "fast-check";
import type { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { LaneStation } from "../../packages/event-queues/src/lane-station.ts";
import { PublishCall } from "../../packages/event-queues/src/publish-call.ts";
import type { StandingItem } from "../../packages/event-queues/src/publish-item.ts";
import { PublishLine } from "../../packages/event-queues/src/publish-line.ts";
import type { PublishResult } from "../../packages/event-queues/src/publish-result.ts";
import { eventOf, eventsOf } from "./publisher-setting.ts";

type Answers = (entry: QueueEntry, asked: number) => QueueResult | Error;

/** The line over lanes that answer what the test says, and a queue that takes every job unless told otherwise. */
function openLine(
  answers: Answers,
  options: {
    readonly pauseMs?: () => number;
    readonly addJobs?: (items: readonly StandingItem[]) => void;
  } = {},
): PublishLine {
  let asked = 0;
  const underWay = new Set<string>();
  const queueMany = async (entries: readonly QueueEntry[]): Promise<(QueueResult | Error)[]> => {
    asked += 1;
    const now = asked;
    for (const { lcid } of entries) {
      if (underWay.has(lcid)) throw new Error(`two calls for ${lcid} are under way`);
      underWay.add(lcid);
    }
    await sleep(options.pauseMs?.() ?? 0);
    return entries.map((entry) => {
      underWay.delete(entry.lcid);
      return answers(entry, now);
    });
  };
  const acknowledge = (items: readonly StandingItem[]): void => {
    for (const { call, index, depth, prepared } of items) {
      call.publish(index, { lcid: prepared.request.lcid, key: prepared.request.key, depth, priority: 0 });
    }
  };
  return new PublishLine({
    redis: { status: "ready", options: {}, disconnect: () => undefined } as unknown as Redis,
    laneStation: new LaneStation({ lanes: { queueMany }, timeoutMs: 100 }),
    jobStation: {
      add: async (items) => {
        (options.addJobs ?? acknowledge)(items);
        return undefined;
      },
    },
    timeoutMs: 100,
  });
}

async function publishThrough(
  line: PublishLine,
  events: readonly unknown[],
): Promise<readonly PublishResult[]> {
  const call = new PublishCall(events);
  line.submit(call);
  return call.done;
}

const taken = (entry: QueueEntry): QueueResult => ({ kind: "queued", depth: entry.requests.length });

describe("the line of a publisher", () => {
  test("tells on a diagnostics channel what stands in lanes and has no jobs yet", async () => {
    let jobs = 0;
    const told: unknown[] = [];
    const listen = (lcids: unknown): void => {
      told.push(lcids, jobs);
    };
    subscribe("junban.publish.standing", listen);
    onTestFinished(() => {
      unsubscribe("junban.publish.standing", listen);
    });
    const line = openLine(taken, { addJobs: (items) => (jobs += items.length) });
    void publishThrough(line, [eventOf({ lcid: "A", id: "1" }), eventOf({ lcid: "B", id: "2" })]);
    await expect.poll(() => jobs).toBe(2);
    expect(told).toEqual([["A", "B"], 0]);
  });

  test("never has two calls for one lane under way, and keeps the callers' order in each", async () => {
    const call = fc.array(fc.constantFrom("A", "B", "C"), { minLength: 1, maxLength: 8 });
    const property = fc.asyncProperty(
      fc.array(fc.tuple(call, fc.boolean()), { minLength: 1, maxLength: 20 }),
      fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1 }),
      async (calls, pausesMs) => {
        const lanes = emptyLanes();
        let pause = 0;
        const line = openLine(
          (entry) => {
            lanes.get(entry.lcid)?.push(...entry.requests.map((request) => idIn(request.body)));
            return taken(entry);
          },
          {
            pauseMs: () => {
              pause += 1;
              return pausesMs[pause % pausesMs.length] ?? 0;
            },
          },
        );
        const expected = emptyLanes();
        const publishing: Promise<unknown>[] = [];
        for (const [number, [lcids, isAwaited]] of calls.entries()) {
          const events = lcids.map((lcid, index) => eventOf({ lcid, id: `${number}-${index}` }));
          for (const event of events) expected.get(event.lcid)?.push(event.id);
          publishing.push(publishThrough(line, events));
          if (isAwaited) await publishing.at(-1);
        }
        await Promise.all(publishing);

        expect(lanes).toEqual(expected);
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  test("lets a call that comes while another is at the lanes wait for its answer", async () => {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const line = openLine(taken, {
      pauseMs: () => {
        begin();
        return 50;
      },
    });
    const first = publishThrough(line, [eventOf({ lcid: "A", id: "1" })]);
    await begun;
    const second = publishThrough(line, [eventOf({ lcid: "A", id: "2" })]);
    expect([...(await first), ...(await second)].map(({ kind }) => kind)).toEqual(["published", "published"]);
  });

  test("refuses the rest of an order in a call even when its lane has room again", async () => {
    const line = openLine((entry, asked) =>
      asked === 1 && entry.lcid === "A-1" ? { kind: "full", depth: 10, cap: 10 } : taken(entry),
    );
    const events = [...eventsOf("A-1", 600), ...eventsOf("B-2", 10)];

    const [first, other] = await Promise.all([
      publishThrough(line, events),
      publishThrough(line, eventsOf("A-1", 1, 600)),
    ]);

    expect(first.slice(0, 600).map((result) => result.kind)).toEqual(
      eventsOf("A-1", 600).map(() => "refused"),
    );
    expect(first.slice(600).map((result) => result.kind)).toEqual(eventsOf("B-2", 10).map(() => "published"));
    // Another call is another story: its caller decides what a refusal elsewhere means to it.
    expect(other.map((result) => result.kind)).toEqual(["published"]);
  });

  test("refuses the rest of an order when nobody knows what its lane did", async () => {
    const line = openLine((entry, asked) =>
      asked === 1 && entry.lcid === "A-1" ? new Error("WRONGTYPE") : taken(entry),
    );

    const results = await publishThrough(line, [...eventsOf("B-2", 1), ...eventsOf("A-1", 600)]);

    expect(results.slice(1).every((result) => result.kind === "refused")).toBe(true);
    expect(results[0]).toMatchObject({ kind: "published" });
    expect(results[600]).toMatchObject({ error: { code: "REDIS_REFUSED" } });
  });

  test("refuses all that waits when a lane goes unanswered", async () => {
    const line = openLine(() => new LaneUnavailableError({ command: "queue" }));

    const results = await Promise.all([
      publishThrough(line, eventsOf("A-1", 2_000)),
      publishThrough(line, eventsOf("B-2", 1)),
    ]);

    expect(results.flat()).toMatchObject(results.flat().map(() => ({ error: { code: "REDIS_TIMEOUT" } })));
  });

  test("tells an outage by what the lane met", async () => {
    const cause = new Error("connect ECONNREFUSED 127.0.0.1:1");
    const line = openLine(() => new LaneUnavailableError({ command: "queue" }, { cause }));

    expect(await publishThrough(line, [eventOf()])).toMatchObject([{ error: { code: "REDIS_AWAY", cause } }]);
  });

  test("settles every event even when a station breaks", async () => {
    const line = openLine(taken, {
      addJobs: () => {
        throw new TypeError("a mistake");
      },
    });

    const results = await publishThrough(line, eventsOf("A-1", 600));

    expect(results.every((result) => result.kind === "refused")).toBe(true);
  });

  test("keeps the process responsive while it refuses very many", async () => {
    const line = openLine((entry) => ({ kind: "full", depth: 1, cap: 1, lcid: entry.lcid }) as QueueResult);
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 1);

    await publishThrough(line, eventsOf("A-1", 20_000));

    clearInterval(ticking);
    expect(turns).toBeGreaterThan(5);
  });
});

function emptyLanes(): Map<string, string[]> {
  return new Map(["A", "B", "C"].map((lcid) => [lcid, []]));
}

function idIn(body: string): string {
  return (JSON.parse(body) as { id: string }).id;
}
