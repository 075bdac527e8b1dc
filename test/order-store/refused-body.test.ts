import { expect, test } from "vitest";
import { expectSound } from "./picture.ts";
import { openShop, wordsOf } from "./shop.ts";
import { Story } from "./story.ts";
import { raiseAt } from "./traps.ts";

test("an event whose body the database does not keep is failed in its place without it, and can be looked up", async () => {
  const shop = await openShop();
  await raiseAt(shop, {
    table: "order_events",
    on: "insert",
    when: "new.event_id = 'culprit' and new.event is not null",
    code: "22003",
  });
  const story = new Story("O1");
  const batch = [story.placed(), story.sold("c1", 50, { id: "culprit" }), story.sold("c2", 70)];
  expect(wordsOf(await shop.apply(batch))).toEqual([
    "applied 1",
    "failed REFUSED_BY_DATABASE",
    "deferred BLOCKED",
  ]);
  const [kept] = await shop.sql("select event, raw from order_events where event_id = 'culprit'");
  expect(kept).toEqual({ event: null, raw: expect.stringContaining("culprit") as string });
  await expectSound(shop);
});
