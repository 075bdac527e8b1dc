import { expect, test } from "vitest";
import { connectTo, freshPlace, openUpdates, queued, told, versionsOf } from "./lab.ts";

test("news whose job was written and not put in line are added when they come again", async () => {
  const place = await freshPlace();
  const redis = connectTo(place);
  const updates = openUpdates(place);
  const news = versionsOf("O1", 3).map((row) => ({ ...row, payload: row }));
  const inTheWay = `${place.prefix}:{order-updates}:wait`;
  await redis.set(inTheWay, "no list");
  await expect(updates.add(news)).rejects.toMatchObject({ code: "REDIS_REFUSED" });
  await redis.del(inTheWay);

  await updates.add(news);

  expect(await queued(place)).toEqual(told(versionsOf("O1", 3)));
});
