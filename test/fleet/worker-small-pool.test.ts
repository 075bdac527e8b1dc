import { expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import {
  authorized,
  eventsOf,
  expectPublishOrder,
  freshLcid,
  freshPlace,
  idsOf,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
} from "./worker-lab.ts";

test("a worker with one connection for all its slots, its sweeper and its probes settles bad events and good ones, and waits for no second one", async () => {
  const place = await freshPlace();
  const bad = freshLcid();
  const good = Array.from({ length: 50 }, () => freshLcid());
  const worker = await startWorker(
    place,
    { ...SHORT_LEASE, JUNBAN_PG_POOL: "1", JUNBAN_COMMIT_PARALLEL: "8", JUNBAN_COMMIT_LANES: "2" },
    "seams",
  );
  await publish(place, [
    ...eventsOf(bad, 1),
    authorized(bad, { number: 1, ref: "throw" }),
    ...good.flatMap((lcid) => eventsOf(lcid, 10)),
  ]);
  await eventually(async () => (await rowsOf(place)).length === 502, { withinMs: 60_000 });
  await expectPublishOrder(place, good, 10);
  expect(await idsOf(place, bad)).toEqual(eventsOf(bad, 2).map(({ id }) => id));
  const outcomes = (await rowsOf(place)).map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome !== "applied")).toEqual(["failed"]);
  await eventually(async () => expect((await worker.get("/readyz")).status).toBe(200));
  worker.tree.signal("SIGTERM");
  expect((await worker.exited).code).toBe(0);
}, 120_000);
