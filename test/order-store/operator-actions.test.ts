import { expect, test } from "vitest";
import { openShop } from "./shop.ts";

const REPLAY = { who: "olga", act: "replay", target: "/payments evt-1" };

test("an action is on record from its beginning, and its end is added to it once", async () => {
  const { store } = await openShop();
  const id = await store.beginAction({ ...REPLAY, reason: "mended" });
  expect(await store.readAction(id)).toMatchObject({
    ...REPLAY,
    reason: "mended",
    result: null,
    endedAt: null,
  });
  await store.endAction({ id, result: "done", detail: "applied" });
  await store.endAction({ id, result: "failed", detail: "again" });
  expect(await store.readAction(id)).toMatchObject({
    result: "done",
    detail: "applied",
    endedAt: expect.any(Date) as Date,
  });
  expect(await store.readAction(id + 1)).toBeNull();
});

test("actions are listed newest first, a page at a time", async () => {
  const { store } = await openShop();
  const ids: number[] = [];
  for (const target of ["one", "two", "three"]) ids.push(await store.beginAction({ ...REPLAY, target }));
  const targets = async (options: { before?: number; limit: number }) =>
    (await store.listActions(options)).map(({ target }) => target);
  expect(await targets({ limit: 2 })).toEqual(["three", "two"]);
  expect(await targets({ before: ids[1] ?? 0, limit: 2 })).toEqual(["one"]);
});
