import { expect, onTestFinished, test } from "vitest";
import { freshPlace, openStore, poolOf, startRelay, writeNews } from "../relay/lab.ts";
import { eventually } from "../support/index.ts";
import { openStation } from "./setting.ts";

test("a handler that reads the order finds it at its version, hears nothing of the one that is not committed, and reads that once it is", async () => {
  const place = await freshPlace();
  const pool = poolOf(place);
  const store = openStore(place);
  const read: { heard: string; found: number | undefined }[] = [];
  await openStation({ url: place.redisUrl, prefix: place.prefix }).onRedis({}, async ({ lcid, version }) => {
    read.push({ heard: `${lcid} ${version}`, found: (await store.readOrder(lcid))?.version });
  });
  await pool.query("insert into orders (lcid, version, arrivals) values ('A', 1, 1), ('B', 1, 1)");
  await writeNews(pool, [{ lcid: "A", version: 1 }]);
  // As a worker does: the order and its news in one transaction.
  const writer = await pool.connect();
  onTestFinished(() => writer.release(true));
  await writer.query("begin");
  await writer.query("update orders set version = 2, arrivals = 2 where lcid = 'A'");
  await writeNews(writer, [{ lcid: "A", version: 2 }]);

  startRelay(place);

  const first = { heard: "A 1", found: 1 };
  await eventually(() => expect(read).toEqual([first]));
  // What is committed after it overtakes it.
  await writeNews(pool, [{ lcid: "B", version: 1 }]);
  const other = { heard: "B 1", found: 1 };
  await eventually(() => expect(read).toEqual([first, other]));

  await writer.query("commit");

  await eventually(() => expect(read).toEqual([first, other, { heard: "A 2", found: 2 }]));
});
