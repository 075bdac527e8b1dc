import { createOrderStore } from "@junban/order-store";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { readAtLeast, StaleReadError } from "../../packages/order-updates/src/index.ts";
import { eventually, freshDatabase } from "../support/index.ts";

test("an order is read at the update's version or later, never uncommitted and never older, while a writer's transaction is open", async () => {
  const databaseUrl = await freshDatabase();
  const store = createOrderStore({ databaseUrl, worker: "tester" });
  const writer = new pg.Client({ connectionString: databaseUrl });
  await writer.connect();
  onTestFinished(async () => {
    await writer.end();
    await store.close();
  });
  await writer.query("insert into orders (lcid, version, arrivals) values ('A', 1, 2)");
  const read = async (lcid: string): ReturnType<typeof store.readOrder> => store.readOrder(lcid);

  await writer.query("begin");
  await writer.query("update orders set version = 2 where lcid = 'A'");
  expect(await readAtLeast({ lcid: "A", version: 1 }, { read })).toMatchObject({ version: 1 });
  await expect(readAtLeast({ lcid: "A", version: 2 }, { read, withinMs: 100 })).rejects.toThrow(
    new StaleReadError({ lcid: "A", wanted: 2, got: 1 }),
  );

  let reads = 0;
  const counting = async (lcid: string): ReturnType<typeof store.readOrder> => {
    reads += 1;
    return read(lcid);
  };
  const later = readAtLeast({ lcid: "A", version: 2 }, { read: counting, withinMs: 30_000 });
  await eventually(() => reads > 1);
  await writer.query("commit");
  expect(await later).toMatchObject({ version: 2 });
});

test("an order that is not there is told as a stale read, not as an order", async () => {
  await expect(
    readAtLeast({ lcid: "A", version: 1 }, { read: async () => null, withinMs: 0 }),
  ).rejects.toMatchObject({ code: "STALE_READ", wanted: 1, got: null });
});
