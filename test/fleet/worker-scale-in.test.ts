import { describe, expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import {
  eventsOf,
  expectPublishOrder,
  freshLcid,
  freshPlace,
  holdOrder,
  publish,
  rowsOf,
  startWorker,
  waitingForLocks,
} from "./worker-lab.ts";
import type { Environment, WorkerProcess } from "./worker-lab.ts";

const LIMIT_MS = 180_000;

/**
 * A sweep comes every 3 to 6 seconds, and a transaction waits longer than that for its row: jobs put back because the wait was over
 * stand in no lane meanwhile, and the figure would rightly leave them out.
 */
const PATIENT: Environment = {
  JUNBAN_LEASE_MS: "12000",
  JUNBAN_STATEMENT_TIMEOUT_MS: "11500",
  JUNBAN_LOCK_TIMEOUT_MS: "11000",
};

async function standingSaidBy(workers: readonly WorkerProcess[]): Promise<number> {
  const texts = await Promise.all(workers.map((worker) => worker.get("/metrics")));
  const figures = texts.map(({ text }) => Number(/^junban_requests_standing (\d+)$/m.exec(text)?.[1]));
  return figures.reduce((sum, figure) => sum + figure, 0);
}

describe("a fleet that is cut down", () => {
  test(
    "as its backlog falls ends no transaction, loses no event and waits for no lease: those asked to stop exit 0",
    async () => {
      const place = await freshPlace();
      const lcids = Array.from({ length: 60 }, () => freshLcid());
      const count = 40;
      const total = lcids.length * count;
      // A lease beyond the test: whatever a worker leaves behind badly would be missing at the end.
      const env = { JUNBAN_LEASE_MS: "120000" };
      const workers = await Promise.all(Array.from({ length: 4 }, () => startWorker(place, env)));
      await publish(
        place,
        lcids.flatMap((lcid) => eventsOf(lcid, count)),
      );
      for (const leaving of [workers.slice(0, 2), workers.slice(2, 3)]) {
        const before = (await rowsOf(place)).length;
        await eventually(async () => (await rowsOf(place)).length > Math.min(before, total - 1), {
          withinMs: 60_000,
        });
        for (const { tree } of leaving) tree.signal("SIGTERM");
        for (const { exited } of leaving) expect(await exited).toEqual({ code: 0, signal: null });
      }
      await eventually(async () => (await rowsOf(place)).length === total, { withinMs: 60_000 });
      await expectPublishOrder(place, lcids, count);
      expect((await rowsOf(place)).every(({ outcome }) => outcome === "applied")).toBe(true);
    },
    LIMIT_MS,
  );

  test(
    "is told by the figure to scale on that the last events are still being worked on, though nothing waits for a worker",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      const workers = await Promise.all([startWorker(place, PATIENT), startWorker(place, PATIENT)]);
      await publish(place, eventsOf(lcid, 1));
      await eventually(async () => (await rowsOf(place)).length === 1, { withinMs: 30_000 });
      await eventually(async () => (await standingSaidBy(workers)) === 0, { withinMs: 30_000 });
      const letGo = await holdOrder(place, lcid);
      try {
        await publish(place, eventsOf(lcid, 4).slice(1));
        await eventually(async () => (await waitingForLocks(place)) > 0);
        await eventually(async () => expect(await standingSaidBy(workers)).toBe(3), { withinMs: 60_000 });
      } finally {
        await letGo();
      }
      await eventually(async () => (await rowsOf(place)).length === 4, { withinMs: 30_000 });
      await eventually(async () => (await standingSaidBy(workers)) === 0, { withinMs: 30_000 });
    },
    LIMIT_MS,
  );
});
