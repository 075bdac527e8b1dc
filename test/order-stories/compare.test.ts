import {
  type OrderFigures,
  compareOrders,
  compareOutcomes,
  referenceOf,
  tellStories,
} from "@junban/order-stories";
import { describe, expect, test } from "vitest";
import { captured, placed, shipped } from "./case-events.ts";

const reference = referenceOf([
  placed([{ lineId: "L1", quantity: 2 }]),
  { ...captured("c", null, 200), id: "paid" },
  { ...shipped("p", ["L1", 1]), id: "sent" },
]);
const order = reference.get("A-1") as OrderFigures;

describe("comparing orders", () => {
  test("says nothing where everything agrees", () => {
    expect(compareOrders(reference, [structuredClone(order)])).toEqual([]);
    const many = referenceOf(tellStories({ seed: 2, orders: 50 }).map(({ event }) => event));
    expect(compareOrders(many, many.values())).toEqual([]);
  });

  test("names every figure that differs, and by how much", () => {
    const actual = { ...order, capturedMinor: 400, status: "placed" };
    expect(compareOrders(reference, [actual])).toEqual([
      "A-1: status should be confirmed, is placed",
      "A-1: capturedMinor should be 200, is 400",
    ]);
  });

  test("names lines that differ, are missing or should not be there", () => {
    const [line] = order.lines;
    const lines = [{ ...line, lineId: "L2" }] as OrderFigures["lines"];
    expect(compareOrders(reference, [{ ...order, lines }])).toEqual([
      "A-1 line L1: is missing",
      "A-1 line L2: is not expected",
    ]);
    const short = [{ ...line, shipped: 1 }] as OrderFigures["lines"];
    expect(compareOrders(reference, [{ ...order, lines: short }])).toEqual([
      "A-1 line L1: shipped should be 0, is 1",
    ]);
  });

  test("names orders that are missing or should not be there", () => {
    expect(compareOrders(reference, [{ ...order, lcid: "A-2" }])).toEqual([
      "A-1: is missing",
      "A-2: is not expected",
    ]);
  });
});

describe("comparing outcomes", () => {
  test("names the event, what it should be and what it is", () => {
    const outcomes = [...(reference.get("A-1")?.outcomes.values() ?? [])];
    expect(compareOutcomes(reference, outcomes)).toEqual([]);
    const [first, paid, sent] = outcomes;
    if (first === undefined || paid === undefined || sent === undefined) {
      throw new Error("Three were published");
    }
    expect(
      compareOutcomes(reference, [first, { ...paid, version: 3 }, { ...sent, reason: "LINE_NOT_FOUND" }]),
    ).toEqual([
      '["/case","paid"] should be applied as version 2, is applied as version 3',
      '["/case","sent"] should be deferred NOT_RESERVED, is deferred LINE_NOT_FOUND',
    ]);
    expect(compareOutcomes(reference, [first, paid])).toEqual(['["/case","sent"]: has no outcome']);
    expect(compareOutcomes(reference, [...outcomes, { ...sent, id: "other" }])).toEqual([
      '["/case","other"]: is not expected',
    ]);
  });
});
