import { createLanes } from "@junban/handoff-lock";
import type { EventEnvelope } from "@junban/orders";
import { Redis } from "ioredis";
import { onTestFinished } from "vitest";
import { createPublisher } from "../../packages/event-queues/src/index.ts";
import type { Publisher, PublisherOptions } from "../../packages/event-queues/src/index.ts";
import type { Corner } from "./setting.ts";

export function eventOf(part: Partial<EventEnvelope> = {}): EventEnvelope {
  return {
    specversion: "1.0",
    id: "evt-1",
    source: "/payments",
    type: "payment.captured",
    lcid: "A-1",
    data: { captureId: "cap-1", amount: 120_00, currency: "EUR" },
    ...part,
  };
}

/** Events `first`, `first` + 1 … of one order. */
export function eventsOf(lcid: string, count: number, first = 0): EventEnvelope[] {
  return Array.from({ length: count }, (_, index) => eventOf({ lcid, id: `evt-${first + index}` }));
}

export function openPublisher(corner: Corner, options: Partial<PublisherOptions> = {}): Publisher {
  const publisher = createPublisher({ redis: corner.url, prefix: corner.prefix, ...options });
  onTestFinished(async () => publisher.close());
  return publisher;
}

export interface LaneView {
  /** Ids of the events that stand in a lane, oldest first. */
  idsIn(lcid: string): Promise<string[]>;
  /** Serves a whole lane, so that it is empty. */
  drain(lcid: string): Promise<void>;
}

/** The lanes as a worker sees them. */
export function openLanes(corner: Corner): LaneView {
  const redis = new Redis(corner.url, { maxRetriesPerRequest: null });
  redis.on("error", () => undefined);
  const lanes = createLanes({ redis, prefix: corner.prefix, batch: 1_000 });
  onTestFinished(async () => {
    await lanes.close();
    redis.disconnect();
  });
  const standing = async (lcid: string): Promise<{ key: string; body: string }[]> => {
    const entry = await lanes.enter(lcid);
    if (entry.kind !== "turn") throw new Error(`somebody else holds ${lcid}`);
    const requests = [...entry.turn.requests];
    await entry.turn.leave();
    return requests;
  };
  return {
    idsIn: async (lcid) => {
      const requests = await standing(lcid);
      return requests.map((request) => (JSON.parse(request.body) as EventEnvelope).id);
    },
    drain: async (lcid) => {
      const entry = await lanes.enter(lcid);
      if (entry.kind !== "turn") throw new Error(`somebody else holds ${lcid}`);
      let { requests } = entry.turn;
      while (requests.length > 0) {
        const handoff = await entry.turn.handOff(requests.map(({ key }) => ({ key, value: "done" })));
        requests = handoff.kind === "next" ? handoff.requests : [];
      }
      await entry.turn.leave();
    },
  };
}
