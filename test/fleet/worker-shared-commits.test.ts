import { expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import {
  eventsOf,
  freshLcid,
  freshPlace,
  holdOrder,
  poolOf,
  publish,
  rowsOf,
  startWorker,
  waitingForLocks,
} from "./worker-lab.ts";

test("lanes that became ready meanwhile share a transaction, however small the batches are", async () => {
  const place = await freshPlace();
  const first = freshLcid();
  const lcids = Array.from({ length: 20 }, () => freshLcid());
  const worker = await startWorker(place, {
    JUNBAN_LANE_BATCH: "4",
    JUNBAN_COMMIT_PARALLEL: "1",
    JUNBAN_WAIT_MS: "60000",
    JUNBAN_LEASE_MS: "120000",
    JUNBAN_LOCK_TIMEOUT_MS: "60000",
    JUNBAN_STATEMENT_TIMEOUT_MS: "70000",
  });
  await publish(place, eventsOf(first, 1));
  await eventually(async () => (await rowsOf(place)).length === 1, { withinMs: 30_000 });
  const letGo = await holdOrder(place, first);
  await publish(place, eventsOf(first, 2).slice(1));
  await eventually(async () => (await waitingForLocks(place)) > 0, { withinMs: 30_000 });
  await publish(
    place,
    lcids.flatMap((lcid) => eventsOf(lcid, 4)),
  );
  await eventually(async () => (await worker.get("/metrics")).text.includes("junban_turns 21"), {
    withinMs: 30_000,
  });
  await letGo();

  await eventually(async () => (await rowsOf(place)).length === 82, { withinMs: 30_000 });
  const { rows } = await poolOf(place).query<{ transactions: number }>(
    "SELECT count(DISTINCT xmin::text)::int AS transactions FROM order_events WHERE lcid <> $1",
    [first],
  );
  expect(rows).toEqual([{ transactions: 1 }]);
}, 120_000);
