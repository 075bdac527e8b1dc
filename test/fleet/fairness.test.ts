import { expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import {
  eventsOf,
  expectPublishOrder,
  freshLcid,
  freshPlace,
  holdOrder,
  poolOf,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
  waitingForLocks,
} from "./worker-lab.ts";
import type { Place } from "./worker-lab.ts";

/**
 * Fewer slots than the order that stands still has jobs, in each family; and a lease so long that the sweeper, which would serve
 * the others after two of them, has nothing to do with it.
 */
const FEW_SLOTS = {
  ...SHORT_LEASE,
  JUNBAN_LEASE_MS: "60000",
  JUNBAN_CONCURRENCY: "8",
  JUNBAN_LANE_BATCH: "16",
};
const HOT_EVENTS = 200;

test("an order that stands still with more jobs than there are slots holds up nobody else, and keeps its own order", async () => {
  const place = await freshPlace();
  const hot = freshLcid();
  const others = Array.from({ length: 10 }, () => freshLcid());
  await publish(
    place,
    [hot, ...others].flatMap((lcid) => eventsOf(lcid, 1)),
  );
  await startWorker(place, FEW_SLOTS);
  await eventually(async () => (await rowsOf(place)).length === 11, { withinMs: 30_000 });
  const letGo = await holdOrder(place, hot);
  try {
    await publish(place, eventsOf(hot, HOT_EVENTS).slice(1));
    await eventually(async () => (await waitingForLocks(place)) > 0, { withinMs: 30_000 });

    // Of the very family whose slots the still order's jobs want; a job of another family would serve the whole line.
    await publish(
      place,
      others.flatMap((lcid) => eventsOf(lcid, 3).slice(1)),
    );
    await eventually(async () => (await rowsOf(place)).length === 31, { withinMs: 90_000 });
    await expectPublishOrder(place, others, 3);
  } finally {
    await letGo();
  }
  await eventually(async () => (await rowsOf(place)).length === 30 + HOT_EVENTS, { withinMs: 90_000 });
  await expectPublishOrder(place, [hot], HOT_EVENTS);
  expect((await rowsOf(place)).every(({ outcome }) => outcome === "applied")).toBe(true);
}, 240_000);

/** From publishing to its row, in the middle of these orders' events. */
async function medianMs(place: Place, lcids: readonly string[]): Promise<number> {
  const { rows } = await poolOf(place).query<{ ms: number }>(
    `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM decided_at - published_at) * 1000) AS ms
     FROM order_events WHERE lcid = ANY($1)`,
    [lcids],
  );
  return rows[0]?.ms ?? Number.NaN;
}

test("beside an order that stands still, with many jobs waiting for it, the others are decided about as soon as without it", async () => {
  const place = await freshPlace();
  const hot = freshLcid();
  const waitMs = Number(SHORT_LEASE["JUNBAN_WAIT_MS"]);
  await startWorker(place, { ...SHORT_LEASE, JUNBAN_LEASE_MS: "60000" });
  await publish(place, eventsOf(hot, 1));
  await eventually(async () => (await rowsOf(place)).length === 1, { withinMs: 30_000 });
  let rows = 1;
  // One after the other, as they come in a shop and not as a batch.
  const publishOthers = async (): Promise<number> => {
    const lcids = Array.from({ length: 40 }, () => freshLcid());
    for (const lcid of lcids) await publish(place, eventsOf(lcid, 2));
    rows += 80;
    await eventually(async () => (await rowsOf(place)).length === rows, { withinMs: 60_000 });
    return medianMs(place, lcids);
  };

  const aloneMs = await publishOthers();
  const letGo = await holdOrder(place, hot);
  try {
    await publish(place, eventsOf(hot, HOT_EVENTS).slice(1));
    await eventually(async () => (await waitingForLocks(place)) > 0, { withinMs: 30_000 });
    const besideMs = await publishOthers();
    // A slot is free again after one wait at the latest; the rest is what a busy machine may take.
    expect(besideMs).toBeLessThan(3 * aloneMs + waitMs + 500);
  } finally {
    await letGo();
  }
}, 240_000);
