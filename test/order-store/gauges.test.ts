import { expect, test } from "vitest";
import { openShop, wordsOf } from "./shop.ts";
import { Story } from "./story.ts";

const HOUR_MS = 3_600_000;

test("gauges tell alerts apart: captures beyond the authorization, shipments of what was cancelled, and others", async () => {
  const shop = await openShop();
  const over = new Story("O1");
  const cancelled = new Story("O2");
  const partly = new Story("O3");
  const { store } = shop;
  expect(await store.gauges()).toMatchObject({ alerts: 0, overCaptures: 0, cancelledShipments: 0 });
  await shop.apply([over.placed(), over.authorized("a1", 100), over.captured("c1", "a1", 5_000)]);
  expect(await store.gauges()).toMatchObject({ alerts: 1, overCaptures: 1, cancelledShipments: 0 });
  const late = cancelled.shipped("s1");
  expect(wordsOf(await shop.apply([...cancelled.cancelled(), late])).at(-1)).toMatch(
    /^rejected (ORDER|LINE)_CANCELLED$/,
  );
  expect(await store.gauges()).toMatchObject({ alerts: 2, overCaptures: 1, cancelledShipments: 1 });
  // What waited for too long left the house as well, though nobody cancelled anything.
  await shop.apply([partly.placed(), partly.shipped("s1")]);
  await shop.sql(
    "update order_events set deferred_until = now() - interval '1 second' where lcid = 'O3' and outcome = 'deferred'",
  );
  expect(await store.expireHeld("O3")).toBe(1);
  expect(await store.gauges()).toMatchObject({ alerts: 3, overCaptures: 1, cancelledShipments: 1 });
  await store.drop({ source: "/shop", id: late.id, reason: "the carrier turned round" });
  expect(await store.gauges()).toMatchObject({ alerts: 2, overCaptures: 1, cancelledShipments: 0 });
});

test("gauges tell how many held events reach their deadline within two hours; those without one do not count", async () => {
  const shop = await openShop({ holdMs: 2 * HOUR_MS - 60_000, holdPaymentMs: 2 * HOUR_MS + 60_000 });
  const story = new Story("O1");
  await shop.apply([story.placed(), story.captured("c1", "a1"), story.event("payment.teleported", {})]);
  expect(await shop.store.gauges()).toMatchObject({ held: 2, heldDueSoon: 0 });
  await shop.apply([story.lineAdded("L2"), story.cancelConfirmed("x1")]);
  expect(await shop.store.gauges()).toMatchObject({ held: 3, heldDueSoon: 1 });
});
