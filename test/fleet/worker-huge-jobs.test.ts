import { createQueueReader } from "@junban/event-queues";
import { startRedis } from "@junban/sandbox";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, freshDatabase } from "../support/index.ts";
import {
  eventOf,
  eventsOf,
  expectPublishOrder,
  freshLcid,
  publish,
  rowsOf,
  startWorker,
} from "./worker-lab.ts";
import type { Envelope, WorkerProcess } from "./worker-lab.ts";

const LIMIT_MS = 180_000;
const MIB = 2 ** 20;
const PATIENT = { withinMs: 60_000 };

/** An event that a client without our publisher adds, with a note of so many characters. */
function capturedWithNote(lcid: string, characters: number): Envelope {
  return eventOf(lcid, 1, { type: "payment.captured", data: { note: "x".repeat(characters) } });
}

async function figure(worker: WorkerProcess, name: string): Promise<number> {
  const { text } = await worker.get("/metrics");
  const found = new RegExp(`^${name.replaceAll(/[{}]/g, "\\$&")} ([\\d.e+]+)$`, "m").exec(text);
  return Number(found?.[1]);
}

async function memoryBytes(worker: WorkerProcess): Promise<number> {
  const [heap, external] = await Promise.all([
    figure(worker, "nodejs_heap_size_used_bytes"),
    figure(worker, "nodejs_external_memory_bytes"),
  ]);
  return heap + external;
}

describe("plain jobs of 1, 10 and 100 MiB", () => {
  test(
    "are refused, while small neighbours of all ages go through in order, leases are kept and memory does not add up",
    async () => {
      const server = await startRedis({ appendOnly: false });
      onTestFinished(() => server.stop());
      const place = { databaseUrl: await freshDatabase(), redisUrl: server.url, prefix: "huge" };
      const redis = new Redis(server.url, { maxRetriesPerRequest: null });
      onTestFinished(() => redis.disconnect());
      const queue = new Queue("{payment}", { connection: redis, prefix: place.prefix });
      const reader = createQueueReader({ redis: server.url, prefix: place.prefix });
      onTestFinished(() => reader.close());
      const worker = await startWorker(place);
      const neighbours = Array.from({ length: 8 }, () => freshLcid());
      const publishNeighbours = async (from: number, to: number): Promise<void> =>
        publish(
          place,
          neighbours.flatMap((lcid) => eventsOf(lcid, to).slice(from)),
        );
      await publishNeighbours(0, 5);
      await eventually(async () => (await rowsOf(place)).length === 40, PATIENT);

      const big = freshLcid();
      await queue.add("payment.captured", capturedWithNote(big, MIB - 1_000));
      for (const [index, mebibytes] of [10, 100].entries()) {
        await queue.add("payment.captured", capturedWithNote(freshLcid(), mebibytes * MIB));
        await publishNeighbours(5 * (index + 1), 5 * (index + 2));
      }
      await eventually(async () => expect((await reader.counts()).payment.failed).toBe(2), PATIENT);
      await publishNeighbours(15, 20);
      await eventually(async () => (await rowsOf(place)).length === 161, PATIENT);
      await expectPublishOrder(place, neighbours, 20);

      // The first has a usable envelope and is small enough to be read, so its order's history tells of it.
      const found = (await rowsOf(place)).find(({ lcid }) => lcid === big);
      expect(found).toMatchObject({ outcome: "rejected", reason: "INVALID_PAYLOAD" });
      for (const { reason, text } of await reader.deadJobs(10)) {
        expect(reason).toBe("its data is larger than 1048576 characters");
        expect(text.length).toBeLessThan(1_000);
        expect(text).toContain("specversion");
      }
      expect(await figure(worker, 'junban_leases_lost_total{why="taken"}')).toBe(0);
      expect(await figure(worker, 'junban_leases_lost_total{why="deadline"}')).toBe(0);

      // What one of them took may wait for the collector; what thirty took must not add up.
      const bytesAfter = await memoryBytes(worker);
      for (let number = 0; number < 30; number += 1) {
        await queue.add("payment.captured", capturedWithNote(freshLcid(), 10 * MIB));
      }
      await eventually(async () => expect((await reader.counts()).payment.failed).toBe(32), PATIENT);
      expect(await memoryBytes(worker)).toBeLessThan(bytesAfter + 150 * MIB);
      worker.tree.signal("SIGTERM");
      expect((await worker.exited).code).toBe(0);
    },
    LIMIT_MS,
  );
});
