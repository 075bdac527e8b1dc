import { expect, test } from "vitest";
import {
  consumeOrderUpdates,
  createGuardTable,
  forgetOrderUpdates,
  readOrderUpdatesBacklog,
} from "../../packages/order-updates/src/index.ts";
import { readSettings } from "../../packages/order-updates/src/settings.ts";
import { eventually } from "../support/index.ts";
import { openPool, openStation } from "./setting.ts";

test.each([
  ["name", { name: "a:b" }],
  ["name", { name: "" }],
  ["name", { name: "b".repeat(49) }],
  ["prefix", { prefix: "{junban}" }],
  ["concurrency", { concurrency: 0 }],
  ["gapWaitMs", { gapWaitMs: Number.NaN }],
  ["retryMs", { retryMs: 0 }],
  ["leaseMs", { leaseMs: 10 }],
])("an option outside its limits is refused by its name: %s", async (option, wrong) => {
  const start = consumeOrderUpdates(
    { redis: "redis://127.0.0.1:1", name: "billing", ...wrong },
    async () => {},
  );
  await expect(start).rejects.toMatchObject({ code: "INVALID_OPTION", option });
});

test("by default a missing version is waited for three leases long, so that a crash makes no gap", () => {
  const options = { redis: "redis://127.0.0.1:1", name: "billing" };
  expect(readSettings(options)).toMatchObject({ leaseMs: 10_000, gapWaitMs: 30_000 });
  expect(readSettings({ ...options, leaseMs: 2_000 })).toMatchObject({ gapWaitMs: 6_000 });
});

test("the guard's table is created once, however many ask at once", async () => {
  const pool = await openPool();
  await pool.query("drop table order_updates_seen");
  await Promise.all(Array.from({ length: 8 }, async () => createGuardTable(pool)));
  expect((await pool.query("select from order_updates_seen")).rowCount).toBe(0);
});

test("updates wait for a name that nobody serves, until it is forgotten", async () => {
  const station = openStation();
  const { consumer } = await station.onRedis({ name: "billing" });
  await consumer.close();
  const shipping = await station.onRedis({ name: "shipping" });
  await station.send("A", 1, 2);
  await eventually(() => shipping.consumer.counts().handled === 2);
  const { url, prefix } = station;
  await eventually(async () =>
    expect(await readOrderUpdatesBacklog({ redis: url, prefix })).toMatchObject({
      incoming: { waiting: 0, failed: 0 },
      names: [
        { name: "billing", waiting: 2, failed: 0, consumers: 0 },
        { name: "shipping", waiting: 0, failed: 0, consumers: 1 },
      ],
    }),
  );
  await forgetOrderUpdates({ redis: url, prefix, name: "billing" });
  expect(await station.left("billing")).toBe(0);
  expect((await readOrderUpdatesBacklog({ redis: url, prefix })).names.map(({ name }) => name)).toEqual([
    "shipping",
  ]);
  await station.send("A", 3);
  await eventually(() => shipping.consumer.counts().handled === 3);
  expect(await station.left("billing")).toBe(0);
});
