import { expect, test } from "vitest";
import { insertShells, lockFreeOrders, lockOrders } from "../../packages/order-store/src/reading.ts";

test("rows are locked and created in one fixed order, so that crossing sets cannot deadlock", () => {
  expect(lockOrders.text).toMatch(/ order by "lcid" for no key update$/u);
  expect(lockFreeOrders.text).toMatch(/ order by "lcid" for no key update skip locked$/u);
  expect(insertShells.text).toMatch(/ order by "wanted"\."lcid" on conflict /u);
});
