import { createLanes } from "@junban/handoff-lock";
import { createOrderStore } from "@junban/order-store";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import {
  authorized,
  eventsOf,
  expectPublishOrder,
  freshLcid,
  freshPlace,
  placed,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
} from "./worker-lab.ts";
import type { Place } from "./worker-lab.ts";

const LIMIT_MS = 180_000;
const LEASE_MS = Number(SHORT_LEASE["JUNBAN_LEASE_MS"]);

/** Slow enough that a test can act in the middle of a turn, in batches that commit several times a second. */
const SLOW = { ...SHORT_LEASE, FLEET_SLOW_MS: "5", JUNBAN_LANE_BATCH: "16" };

async function expectSoundAndWhole(place: Place, lcids: readonly string[], count: number): Promise<void> {
  await expectPublishOrder(place, lcids, count);
  const store = createOrderStore({ databaseUrl: place.databaseUrl, poolSize: 1, worker: "test" });
  try {
    for await (const finding of store.audit()) expect(finding.differences).toEqual([]);
    for (const lcid of lcids) expect(await store.readOrder(lcid)).toMatchObject({ version: count });
  } finally {
    await store.close();
  }
}

describe("a holder that vanishes", () => {
  test(
    "by SIGKILL: its lane moves on within a lease and two seconds, nothing lost, doubled or inverted",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      await publish(place, eventsOf(lcid, 600));
      const holder = await startWorker(place, SLOW, "seams");
      await eventually(async () => (await rowsOf(place)).length > 16, { withinMs: 30_000 });
      // It waits for the lane from here on, with the holder in the middle of its turn.
      await startWorker(place, SLOW, "seams");
      holder.tree.signal("SIGKILL");
      const killedAtMs = performance.now();
      await holder.exited;
      const before = (await rowsOf(place)).length;
      expect(before).toBeLessThan(600);
      await eventually(async () => (await rowsOf(place)).length > before, { withinMs: 30_000 });
      expect(performance.now() - killedAtMs).toBeLessThan(LEASE_MS + 2_000);
      await eventually(async () => (await rowsOf(place)).length === 600, { withinMs: 60_000 });
      await expectSoundAndWhole(place, [lcid], 600);
    },
    LIMIT_MS,
  );

  test(
    "by SIGSTOP, past its lease, and comes back: another serves its lane, and it changes nothing when it wakes",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      await publish(place, eventsOf(lcid, 600));
      const holder = await startWorker(place, SLOW, "seams");
      await eventually(async () => (await rowsOf(place)).length > 16, { withinMs: 30_000 });
      await startWorker(place, SLOW, "seams");
      holder.tree.signal("SIGSTOP");
      const before = (await rowsOf(place)).length;
      expect(before).toBeLessThan(600);
      await eventually(async () => (await rowsOf(place)).length > before + 16, { withinMs: 30_000 });
      holder.tree.signal("SIGCONT");
      await eventually(async () => (await rowsOf(place)).length === 600, { withinMs: 60_000 });
      await expectSoundAndWhole(place, [lcid], 600);
      holder.tree.signal("SIGTERM");
      expect((await holder.exited).code).toBe(0);
    },
    LIMIT_MS,
  );
});

describe("an event that does harm", () => {
  test(
    "that fails whenever it is decided halts its own order and no other, and keeps its place",
    async () => {
      const place = await freshPlace();
      const [ill, well] = [freshLcid(), freshLcid()];
      await publish(place, [
        placed(ill),
        authorized(ill, { number: 1, ref: "throw-1" }),
        authorized(ill, { number: 2 }),
        ...eventsOf(well, 5),
      ]);
      const worker = await startWorker(place, SHORT_LEASE, "seams");
      await eventually(async () => (await rowsOf(place)).length === 8, { withinMs: 30_000 });
      const rows = await rowsOf(place);
      expect(rows.filter(({ lcid }) => lcid === ill).map(({ outcome, reason }) => [outcome, reason])).toEqual(
        [
          ["applied", null],
          ["failed", expect.any(String)],
          ["deferred", "BLOCKED"],
        ],
      );
      expect(rows.filter(({ lcid }) => lcid === well).every(({ outcome }) => outcome === "applied")).toBe(
        true,
      );
      await worker.tree.waitForLine("an event failed");
    },
    LIMIT_MS,
  );

  test(
    "that kills its process is given up after as many deaths as configured; its own order waits, and no other loses anything",
    async () => {
      const place = await freshPlace();
      const [deadly, well] = [freshLcid(), freshLcid()];
      const lanes = createLanes({ redis: freshRedis().connect(), prefix: place.prefix });
      onTestFinished(() => lanes.close());
      await publish(place, [
        placed(deadly),
        authorized(deadly, { number: 1, ref: "kill-1" }),
        authorized(deadly, { number: 2 }),
        ...eventsOf(well, 5),
      ]);
      let deaths = 0;
      const isGivenUp = async (): Promise<boolean> =>
        (await rowsOf(place)).some(({ outcome }) => outcome === "failed");
      // A supervisor that always starts the next one.
      while (!(await isGivenUp()) && deaths < 30) {
        const worker = await startWorker(place, { ...SHORT_LEASE, JUNBAN_CRASH_GIVE_UP: "5" }, "seams");
        const ended = await Promise.race([
          worker.exited.then(() => true),
          eventually(isGivenUp, { withinMs: 60_000 }).then(() => false),
        ]);
        if (ended) deaths += 1;
        // The lock of the one that died lapses; to wait for it here costs nothing but time.
        else break;
      }
      await eventually(async () => (await rowsOf(place)).length === 8, { withinMs: 60_000 });
      const rows = await rowsOf(place);
      expect(
        rows.filter(({ lcid }) => lcid === deadly).map(({ outcome, reason }) => [outcome, reason]),
      ).toEqual([
        ["applied", null],
        ["failed", "CRASH_LOOP"],
        ["deferred", "BLOCKED"],
      ]);
      expect(rows.filter(({ lcid }) => lcid === well).every(({ outcome }) => outcome === "applied")).toBe(
        true,
      );
      // Up to three deaths with the killer somewhere in the batch, then five with it at the head.
      expect(deaths).toBeGreaterThanOrEqual(5);
      expect(deaths).toBeLessThanOrEqual(9);
    },
    LIMIT_MS,
  );
});
