import { expect, test } from "vitest";
import { openShop, wordsOf } from "./shop.ts";
import { Story } from "./story.ts";

test("an alert is acknowledged by one update that waits for no holder of the order", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  const over = story.captured("c1", "a1", 5_000);
  expect(wordsOf(await shop.apply([story.placed(), story.authorized("a1"), over])).at(-1)).toBe(
    "rejected OVER_CAPTURE",
  );
  const holder = await shop.session();
  await holder.query("begin; select from orders where lcid = 'O1' for update");
  const hasty = shop.openStore({ lockTimeoutMs: 150 });
  const { source, id } = over;
  expect(await hasty.drop({ source, id, reason: "settled by hand" })).toMatchObject({ outcome: "rejected" });
  expect(await hasty.readEvent({ source, id })).toMatchObject({
    alert: false,
    outcome: "rejected",
    detail: "acknowledged: settled by hand",
  });
  // The order itself did not change, so nothing was there to be read and decided under its lock.
  expect(await hasty.readOrder("O1")).toMatchObject({ version: 2, alerts: [] });
});

test("an alert is acknowledged once: whoever comes second, or where none is, is told so and changes nothing", async () => {
  const shop = await openShop();
  const { store } = shop;
  const story = new Story("O1");
  const [over, early] = [story.captured("c1", "a1", 5_000), story.captured("c2", "a9")];
  await shop.apply([story.placed(), story.authorized("a1"), over, early]);
  const drop = async ({ source, id }: typeof over, reason: string): Promise<unknown> =>
    store.drop({ source, id, reason });
  expect(await drop(over, "settled by hand")).toMatchObject({ outcome: "rejected", acknowledged: true });
  await expect(drop(over, "once more")).rejects.toMatchObject({ code: "NO_ALERT", isAcknowledged: true });
  expect(await store.readEvent(over)).toMatchObject({ detail: "acknowledged: settled by hand" });
  // A held event that was given up is rejected without an alert, whatever its reason looks like.
  expect(await drop(early, "acknowledged: by the shop")).toMatchObject({ acknowledged: false });
  const before = await store.readEvent(early);
  await expect(drop(early, "once more")).rejects.toMatchObject({ code: "NO_ALERT", isAcknowledged: false });
  expect(await store.readEvent(early)).toEqual(before);
});
