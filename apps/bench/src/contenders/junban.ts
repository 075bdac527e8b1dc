import { fileURLToPath } from "node:url";
import { createPublisher, createQueueReader } from "@junban/event-queues";
import type { EventEnvelope } from "@junban/orders";
import type { Carrier, Contender, Ground, Setting } from "./contender.ts";

const WORKER = fileURLToPath(new URL("../../../worker/dist/main.js", import.meta.url));
const PUBLISHED_AT_ONCE = 2_000;
/** A backlog of any size may stand in one lane: the publisher's bound is not what is measured. */
const LANE_CAP = 10_000_000;

const TAKEN_ALIKE: readonly Setting[] = [
  {
    name: "JUNBAN_CONCURRENCY",
    value: "128",
    why: "slots of each family, 512 together: the default",
    source: null,
  },
  {
    name: "JUNBAN_RELAY",
    value: "off",
    why: "nobody here passes on what was committed: every contender writes the same outbox rows and leaves them",
    source: null,
  },
  { name: "JUNBAN_PG_POOL", value: "8", why: "connections: the default", source: null },
  { name: "JUNBAN_COMMIT_PARALLEL", value: "3", why: "transactions at once: the default", source: null },
  {
    name: "laneCap",
    value: LANE_CAP.toLocaleString("en-US"),
    why: "of the publisher, whose default of 10,000 refuses what is beyond it: a backlog of any size is to stand in one lane",
    source: null,
  },
  { name: "publishing", value: "publishAll, 2,000 at once", why: "its way of adding a batch", source: null },
];

export const junban: Contender = {
  name: "junban",
  version: "junban 0.1.0",
  what: "one worker process, default settings",
  settings: [
    ...TAKEN_ALIKE,
    {
      name: "JUNBAN_LANE_BATCH",
      value: "256",
      why: "events of one order at once: the default",
      source: null,
    },
    {
      name: "JUNBAN_COMMIT_LANES",
      value: "32",
      why: "orders a transaction, with two batches of events at most: the default",
      source: null,
    },
  ],
  promises: "publish order",
  applies: true,
  script: WORKER,
  env: { JUNBAN_RELAY: "off" },
  startedLine: /the worker serves/u,
  open: openJunban,
};

export const junbanSingle: Contender = {
  ...junban,
  name: "junban-single",
  what: "the same worker, one event a batch and one lane a commit",
  settings: [
    ...TAKEN_ALIKE,
    { name: "JUNBAN_LANE_BATCH", value: "1", why: "shows what batches are worth", source: null },
    { name: "JUNBAN_COMMIT_LANES", value: "1", why: "shows what shared commits are worth", source: null },
  ],
  env: { ...junban.env, JUNBAN_LANE_BATCH: "1", JUNBAN_COMMIT_LANES: "1" },
};

async function openJunban({ redisUrl, prefix }: Ground): Promise<Carrier> {
  const publisher = createPublisher({ redis: redisUrl, prefix, laneCap: LANE_CAP });
  const queues = createQueueReader({ redis: redisUrl, prefix });
  return {
    publish: async (events: readonly EventEnvelope[]) => {
      for (let start = 0; start < events.length; start += PUBLISHED_AT_ONCE) {
        const results = await publisher.publishAll(events.slice(start, start + PUBLISHED_AT_ONCE));
        const refused = results.find((result) => result.kind === "refused");
        if (refused !== undefined) throw refused.error;
      }
    },
    left: async () => {
      const families = Object.values(await queues.counts());
      return families.reduce(
        (sum, { waiting, prioritized, active, delayed }) => sum + waiting + prioritized + active + delayed,
        0,
      );
    },
    close: async () => {
      await Promise.all([publisher.close(), queues.close()]);
    },
  };
}
