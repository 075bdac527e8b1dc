import { createLanes } from "@junban/handoff-lock";
import { createOrderStore } from "@junban/order-store";
import { expect, onTestFinished, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import {
  eventsOf,
  expectPublishOrder,
  freshLcid,
  freshPlace,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
} from "./worker-lab.ts";

/** Slow enough that a lane is freed in the middle of many a transaction. */
const SLOW = { ...SHORT_LEASE, FLEET_SLOW_MS: "5", JUNBAN_LANE_BATCH: "16" };
const COUNT = 400;

test("a lane that an operator frees again and again under holders that are alive loses, doubles and inverts nothing", async () => {
  const place = await freshPlace();
  const lcid = freshLcid();
  const lanes = createLanes({ redis: freshRedis().connect(), prefix: place.prefix });
  onTestFinished(() => lanes.close());
  await publish(place, eventsOf(lcid, COUNT));
  await Promise.all([startWorker(place, SLOW, "seams"), startWorker(place, SLOW, "seams")]);
  let freed = 0;
  await eventually(
    async () => {
      freed += Number(await lanes.free(lcid));
      return (await rowsOf(place)).length === COUNT;
    },
    { withinMs: 120_000 },
  );
  expect(freed).toBeGreaterThan(5);
  await expectPublishOrder(place, [lcid], COUNT);
  const store = createOrderStore({ databaseUrl: place.databaseUrl, poolSize: 1, worker: "test" });
  onTestFinished(() => store.close());
  expect(await store.readOrder(lcid)).toMatchObject({ version: COUNT });
  for await (const finding of store.audit([lcid])) expect(finding.differences).toEqual([]);
}, 180_000);
