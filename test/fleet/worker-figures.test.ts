import { expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import { eventOf, freshLcid, freshPlace, placed, publish, startWorker } from "./worker-lab.ts";

const LIMIT_MS = 120_000;

test(
  "the process that sweeps tells what alerts stand on: alerts by kind, held events, lanes and their cap",
  async () => {
    const place = await freshPlace();
    const lcid = freshLcid();
    const authorization = { authorizationId: "a-1", amount: 10, currency: "JPY" };
    const capture = { captureId: "c-1", authorizationId: "a-1", amount: 5_000, currency: "JPY" };
    await publish(place, [
      placed(lcid),
      eventOf(lcid, 1, { type: "payment.authorized", data: authorization }),
      eventOf(lcid, 2, { type: "payment.captured", data: capture }),
      eventOf(lcid, 3, { type: "cancel.confirmed", data: { cancelId: "x-1" } }),
    ]);
    const worker = await startWorker(place, {
      JUNBAN_HOLD_MS: "3600000",
      JUNBAN_LANE_CAP: "77",
      JUNBAN_PG_POOL: "5",
      JUNBAN_LEASE_MS: "6000",
    });
    await eventually(
      async () => {
        const { text } = await worker.get("/metrics");
        for (const line of [
          'junban_alerts{kind="over_capture"} 1',
          'junban_alerts{kind="cancelled_shipment"} 0',
          'junban_alerts{kind="other"} 0',
          "junban_deferrals_held 1",
          "junban_deferrals_due_soon 1",
          "junban_orders_halted 0",
          "junban_sweeps 1",
          "junban_lane_cap 77",
          "junban_pg_pool_size 5",
          "junban_redis_may_evict 0",
          "junban_redis_refuses 0",
        ]) {
          expect(text.split("\n")).toContain(line);
        }
        expect(text).not.toContain(lcid);
        // With JUNBAN_RELAY=off, as here.
        expect(text).not.toMatch(/junban_(?:relay|updates)_/);
      },
      { withinMs: 60_000 },
    );
    worker.tree.signal("SIGTERM");
    expect(await worker.exited).toEqual({ code: 0, signal: null });
  },
  LIMIT_MS,
);
