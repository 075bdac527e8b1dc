import { fileURLToPath } from "node:url";
import { createQueueReader } from "@junban/event-queues";
import { startProcess } from "@junban/sandbox";
import { Queue } from "bullmq";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import {
  authorized,
  environmentOf,
  eventsOf,
  freshLcid,
  freshPlace,
  poolOf,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
} from "./worker-lab.ts";
import type { Envelope, Place } from "./worker-lab.ts";

const LIMIT_MS = 180_000;
/** What people start, compiled: `npm test` builds it first. */
const JUNBAN = fileURLToPath(new URL("../../apps/cli/bin/junban.js", import.meta.url));

async function junban(place: Place, args: readonly string[]): Promise<number | null> {
  const tree = await startProcess({
    command: process.execPath,
    args: [JUNBAN, ...args],
    env: { PATH: process.env["PATH"], ...environmentOf(place) },
  });
  return (await tree.exited).code;
}

/** Every event of the order applied, once each, and the amounts are those of once each. */
async function expectAppliedOnce(place: Place, lcid: string, events: readonly Envelope[]): Promise<void> {
  const { rows } = await poolOf(place).query<{ id: string; outcome: string }>(
    "SELECT event_id AS id, outcome FROM order_events WHERE lcid = $1 ORDER BY arrival",
    [lcid],
  );
  expect(rows).toEqual(events.map(({ id }) => ({ id, outcome: "applied" })));
  const { rows: orders } = await poolOf(place).query(
    "SELECT authorized_minor::int AS authorized, version::int, halted FROM orders WHERE lcid = $1",
    [lcid],
  );
  expect(orders).toEqual([{ authorized: 10 * (events.length - 1), version: events.length, halted: false }]);
}

describe("a retry by hand", () => {
  test(
    "of dead jobs from a dashboard, one of them mended, once, twice at once and all together: it applies once, the others die again",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      const queue = new Queue("{payment}", { connection: freshRedis().connect(), prefix: place.prefix });
      const reader = createQueueReader({ redis: place.redisUrl, prefix: place.prefix });
      onTestFinished(() => reader.close());
      await publish(place, eventsOf(lcid, 2));
      await startWorker(place, SHORT_LEASE);
      const jobs = await queue.addBulk(
        Array.from({ length: 3 }, () => ({ name: "payment.authorized", data: { forgot: "the envelope" } })),
      );
      await eventually(async () => expect(await queue.getFailedCount()).toBe(3), { withinMs: 30_000 });
      const [mended] = await queue.getFailed();
      await mended?.updateData(authorized(lcid, { number: 2 }));

      await Promise.allSettled([
        mended?.retry(),
        mended?.retry(),
        reader.retryDead("payment", mended?.id ?? ""),
        queue.retryJobs({ state: "failed" }),
        reader.retryDead("payment", mended?.id ?? ""),
      ]);
      await eventually(
        async () => {
          await expectAppliedOnce(place, lcid, eventsOf(lcid, 3));
          expect(await queue.getFailedCount()).toBe(jobs.length - 1);
          expect(await queue.getJobCountByTypes("wait", "active", "prioritized", "delayed")).toBe(0);
        },
        { withinMs: 30_000 },
      );
      await queue.retryJobs({ state: "failed" });
      await eventually(async () => expect(await queue.getFailedCount()).toBe(2), { withinMs: 30_000 });
      await expectAppliedOnce(place, lcid, eventsOf(lcid, 3));
    },
    LIMIT_MS,
  );

  test(
    "of failed events, one and all, from several terminals at once while the orders go on: each is applied once, in its place",
    async () => {
      const place = await freshPlace();
      const lcids = Array.from({ length: 3 }, () => freshLcid());
      // Ids that queues elsewhere refused or swallowed.
      const ids = ["a:b", "a:b:c", "123"];
      const eventsOfOrder = (lcid: string, index: number): Envelope[] => [
        ...eventsOf(lcid, 2),
        { ...authorized(lcid, { number: 2, ref: "throw" }), id: ids[index] ?? "" },
        ...eventsOf(lcid, 6).slice(3),
      ];
      const events = lcids.map(eventsOfOrder);
      await startWorker(place, SHORT_LEASE, "seams");
      await publish(
        place,
        events.flatMap((of) => of.slice(0, 5)),
      );
      await eventually(async () => expect(await rowsOf(place)).toHaveLength(15), { withinMs: 30_000 });
      const outcomes = (await rowsOf(place)).map(({ outcome }) => outcome);
      expect(outcomes.filter((outcome) => outcome === "failed")).toHaveLength(3);
      // A failed id may be sent again; it stays what it is until somebody decides.
      await publish(
        place,
        events.flatMap((of) => of.slice(2, 3)),
      );

      const [codes] = await Promise.all([
        Promise.all([
          junban(place, ["dlq", "replay", "--all", "--yes"]),
          junban(place, ["dlq", "replay", "--all", "--yes"]),
          junban(place, ["dlq", "replay", "/lab", ids[0] ?? "", ids[0] ?? ""]),
        ]),
        publish(
          place,
          events.flatMap((of) => of.slice(5)),
        ),
      ]);
      // Who comes second finds that an event is not failed any more, and ends with 1; nobody ends with anything else.
      expect(codes.filter((code) => code !== 0 && code !== 1)).toEqual([]);
      await eventually(
        async () => {
          for (const [index, lcid] of lcids.entries()) {
            await expectAppliedOnce(place, lcid, events[index] ?? []);
          }
        },
        { withinMs: 60_000 },
      );
      expect(await junban(place, ["audit"])).toBe(0);
    },
    LIMIT_MS,
  );
});
