import { decide } from "@junban/orders";
import { describe, expect, test } from "vitest";
import { openShop, type Shop } from "./shop.ts";
import { Story } from "./story.ts";

/** As if everything so far had happened that many hours earlier. */
async function letPass(shop: Shop, hours: number): Promise<void> {
  await shop.sql(
    `update order_events set first_decided_at = first_decided_at - $1 * interval '1 hour',
       deferred_until = deferred_until - $1 * interval '1 hour'`,
    [hours],
  );
}

async function hoursLeft(shop: Shop): Promise<{ reason: string; hours: number }[]> {
  return shop.sql(
    `select reason, round(extract(epoch from deferred_until - now()) / 3600)::int as hours
     from order_events where outcome = 'deferred' order by arrival`,
  );
}

describe("a held event whose reason changes", () => {
  test("moves its deadline by the difference, counted from its first decision however often it changes", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    await shop.apply([story.placed(), story.shipped("s1")]);
    expect(await hoursLeft(shop)).toEqual([{ reason: "NOT_RESERVED", hours: 24 }]);
    await letPass(shop, 20);
    await shop.apply([story.reserved("r1", "L1", 2)]);
    expect(await hoursLeft(shop)).toEqual([{ reason: "PAYMENT_NOT_CONFIRMED", hours: 52 }]);
    await shop.apply([story.released("x1", "r1", 2)]);
    await shop.apply([story.sold("c1", 200)]);
    expect(await hoursLeft(shop)).toEqual([{ reason: "NOT_RESERVED", hours: 4 }]);
  });

  test("has a full deadline if it was blocked for days before", async () => {
    let isMended = false;
    const shop = await openShop({
      decide: (view, event) => {
        if (!isMended && event.type === "payment.failed") throw new TypeError("a bug in the decision");
        return decide(view, event);
      },
    });
    const story = new Story("O1");
    const culprit = story.event("payment.failed", { stage: "capture", ref: "c9", code: "declined" });
    await shop.apply([story.placed(), culprit, story.shipped("s1"), story.reserved("r1", "L1", 2)]);
    await letPass(shop, 5 * 24);
    isMended = true;
    expect(await shop.store.replay(culprit)).toMatchObject({
      outcome: "applied",
      released: 2,
      halted: false,
    });
    expect(await hoursLeft(shop)).toEqual([{ reason: "PAYMENT_NOT_CONFIRMED", hours: 72 }]);
    expect(await shop.store.expireHeld("O1")).toBe(0);
  });
});
