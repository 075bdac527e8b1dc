import { UPDATES_QUEUE } from "@junban/event-queues";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { eventsOf, freshLcid, freshPlace, poolOf, publish, startWorker } from "./worker-lab.ts";
import type { Place } from "./worker-lab.ts";

function queueOf({ redisUrl, prefix }: Place): Queue<{ lcid: string; version: number }> {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue<{ lcid: string; version: number }>(UPDATES_QUEUE, { connection, prefix });
  onTestFinished(async () => {
    await queue.close();
    connection.disconnect();
  });
  return queue;
}

test("of several workers one passes on what all of them commit, until the last commit of each", async () => {
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

  const jobs = await queue.getJobs(["waiting"], 0, -1, true);
  for (const lcid of lcids) {
    const versions = jobs.filter(({ data }) => data.lcid === lcid).map(({ data }) => data.version);
    expect(versions).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  }
  const metrics = await Promise.all(workers.map(async (worker) => (await worker.get("/metrics")).text));
  expect(metrics.filter((text) => /^junban_relay_leads 1$/m.test(text))).toHaveLength(1);
  await eventually(async () => {
    const { rows } = await poolOf(place).query("select 1 from outbox");
    expect(rows).toHaveLength(0);
  });
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
