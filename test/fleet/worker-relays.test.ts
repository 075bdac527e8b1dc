import { UPDATES_QUEUE } from "@junban/event-queues";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { eventsOf, freshLcid, freshPlace, poolOf, publish, startWorker } from "./worker-lab.ts";
import type { Place, WorkerProcess } from "./worker-lab.ts";

function queueOf({ redisUrl, prefix }: Place): Queue<{ lcid: string; version: number }> {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue<{ lcid: string; version: number }>(UPDATES_QUEUE, { connection, prefix });
  onTestFinished(async () => {
    await queue.close();
    connection.disconnect();
  });
  return queue;
}

/** The versions of an order in the order in which they will be fetched. */
async function versionsQueued(
  queue: Queue<{ lcid: string; version: number }>,
  lcid: string,
): Promise<number[]> {
  const jobs = await queue.getJobs(["waiting"], 0, -1, true);
  return jobs.filter(({ data }) => data.lcid === lcid).map(({ data }) => data.version);
}

async function leads(worker: WorkerProcess): Promise<boolean> {
  return /^junban_relay_leads 1$/m.test((await worker.get("/metrics")).text);
}

async function outboxIsEmpty(place: Place): Promise<boolean> {
  return (await poolOf(place).query("select 1 from outbox")).rows.length === 0;
}

test("of several workers one passes on what all of them commit; when it is stopped at work another takes over, in order", async () => {
  const place = await freshPlace();
  const queue = queueOf(place);
  const workers = [
    await startWorker(place, { JUNBAN_RELAY: "on" }),
    await startWorker(place, { JUNBAN_RELAY: "on" }),
  ];
  const lcids = [freshLcid(), freshLcid(), freshLcid()];
  await publish(
    place,
    lcids.flatMap((lcid) => eventsOf(lcid, 20)),
  );
  await eventually(async () => (await queue.getWaitingCount()) === 60, { withinMs: 30_000 });
  const leading = await Promise.all(workers.map(leads));
  expect(leading.filter(Boolean)).toHaveLength(1);
  const [leader, other] = leading[0] === true ? workers : workers.toReversed();

  await publish(
    place,
    lcids.flatMap((lcid) => eventsOf(lcid, 60).slice(20)),
  );
  leader?.tree.signal("SIGTERM");

  expect(await leader?.exited).toMatchObject({ code: 0 });
  await eventually(async () => (await queue.getWaitingCount()) === 180, { withinMs: 30_000 });
  await eventually(async () => outboxIsEmpty(place));
  for (const lcid of lcids) {
    expect(await versionsQueued(queue, lcid)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  }
  expect(other === undefined ? false : await leads(other)).toBe(true);
}, 120_000);

test("what a lone worker leaves behind when it is stopped at work goes out when the next one starts", async () => {
  const place = await freshPlace();
  const queue = queueOf(place);
  const lcid = freshLcid();
  const last = await startWorker(place, { JUNBAN_RELAY: "on" });
  await publish(place, eventsOf(lcid, 40));
  last.tree.signal("SIGTERM");
  expect(await last.exited).toMatchObject({ code: 0 });

  await startWorker(place, { JUNBAN_RELAY: "on" });

  await eventually(async () => (await queue.getWaitingCount()) === 40, { withinMs: 30_000 });
  await eventually(async () => outboxIsEmpty(place));
  expect(await versionsQueued(queue, lcid)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
}, 120_000);

test("a worker that is told to leaves the outbox to others", async () => {
  const place = await freshPlace();
  const worker = await startWorker(place, { JUNBAN_RELAY: "off" });
  const lcid = freshLcid();
  await publish(place, eventsOf(lcid, 3));
  await eventually(async () => (await poolOf(place).query("select 1 from outbox")).rows.length === 3, {
    withinMs: 30_000,
  });
  expect((await worker.get("/metrics")).text).not.toContain("junban_relay_leads");
}, 60_000);
