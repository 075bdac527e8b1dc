import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FAMILY_QUEUES } from "@junban/event-queues";
import { familyOf } from "@junban/orders";
import { startProcess } from "@junban/sandbox";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { blocksIn, eventually, scriptFolder } from "../support/index.ts";
import {
  eventOf,
  eventsOf,
  freshLcid,
  freshPlace,
  placed,
  poolOf,
  rowsOf,
  startWorker,
} from "./worker-lab.ts";
import type { Envelope, Place } from "./worker-lab.ts";

/** A producer that knows nothing of this house but the names of its queues. */
function bareClient({ redisUrl, prefix }: Place): (event: Envelope) => Promise<void> {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queues = new Map<string, Queue>();
  onTestFinished(async () => {
    await Promise.all([...queues.values()].map(async (queue) => queue.close()));
    connection.disconnect();
  });
  return async (event) => {
    const type = String(event["type"]);
    const name = FAMILY_QUEUES[familyOf(type)];
    const queue = queues.get(name) ?? new Queue(name, { connection, prefix });
    queues.set(name, queue);
    await queue.add(type, event);
  };
}

test("events that a bare BullMQ client added to all four queues are applied, each behind those that had arrived before it was added", async () => {
  const place = await freshPlace();
  const add = bareClient(place);
  await startWorker(place);
  const lcid = freshLcid();
  const story = [
    placed(lcid),
    eventOf(lcid, 1, {
      type: "inventory.reserved",
      data: { reservationId: "r-1", lineId: "L1", quantity: 2 },
    }),
    eventOf(lcid, 2, {
      type: "payment.authorized",
      data: { authorizationId: "a-1", amount: 1_000, currency: "JPY" },
    }),
    eventOf(lcid, 3, {
      type: "cancel.requested",
      data: { cancelId: "c-1", scope: "order", reason: "why not" },
    }),
  ];
  expect(new Set(story.map(({ type }) => familyOf(String(type)))).size).toBe(4);

  for (const [index, event] of story.entries()) {
    await add(event);
    // The order of arrival at a worker is all that such a client may count on.
    await eventually(async () => (await rowsOf(place)).length === index + 1, { withinMs: 30_000 });
  }

  const rows = await rowsOf(place);
  expect(rows.map(({ id, outcome }) => [id, outcome])).toEqual(story.map(({ id }) => [id, "applied"]));
}, 90_000);

test("a burst that a bare BullMQ client added to one queue is applied in the order of adding by one worker with one slot a queue", async () => {
  const place = await freshPlace();
  const add = bareClient(place);
  const [first, ...burst] = eventsOf(freshLcid(), 40);
  if (first === undefined) throw new Error("no placement");
  const ids = burst.map(({ id }) => id);
  // All of them wait in the queue before anybody fetches one: what is asserted is how they arrive, not when.
  for (const event of burst) await add(event);
  await startWorker(place, { JUNBAN_CONCURRENCY: "1", JUNBAN_LANE_BATCH: "2" });

  // They wait for their placement in the order in which they arrived, and are applied in it.
  await eventually(async () => expect((await rowsOf(place)).map(({ id }) => id)).toEqual(ids), {
    withinMs: 30_000,
  });
  await add(first);
  await eventually(async () => expect(await appliedIn(place)).toEqual([first.id, ...ids]), {
    withinMs: 30_000,
  });
}, 90_000);

/** The ids of the events that were applied, by the versions that they made. */
async function appliedIn(place: Place): Promise<string[]> {
  const { rows } = await poolOf(place).query<{ id: string }>(
    "select event_id as id from order_events where version is not null order by version",
  );
  return rows.map(({ id }) => id);
}

test("the example of docs/events.md adds plain jobs that are applied, whichever of them arrives first", async () => {
  const page = await readFile(new URL("../../docs/events.md", import.meta.url), "utf8");
  const [example = ""] = blocksIn(page, { language: "js" });
  const folder = await scriptFolder();
  const script = join(folder, "plain.mjs");
  await writeFile(script, example);
  const place = await freshPlace();
  await startWorker(place);
  const run = await startProcess({
    command: process.execPath,
    args: [script],
    env: { PATH: process.env["PATH"], REDIS_URL: place.redisUrl, JUNBAN_PREFIX: place.prefix },
    cwd: folder,
  });
  expect({ ...(await run.exited), said: run.stderr() }).toEqual({ code: 0, signal: null, said: "" });

  await eventually(
    async () => {
      const rows = await rowsOf(place);
      const applied = rows.filter(({ outcome }) => outcome === "applied").map(({ id }) => id);
      expect(new Set(applied)).toEqual(new Set(["evt-1", "evt-80"]));
    },
    { withinMs: 30_000 },
  );
}, 90_000);
