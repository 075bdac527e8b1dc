import { identityOf, referenceOf } from "@junban/order-stories";
import { describe, expect, test } from "vitest";
import {
  added,
  authorized,
  cancelConfirmed,
  cancelRequested,
  captured,
  changed,
  placed,
  refunded,
  removed,
  reserved,
  say,
  shipped,
  tell,
} from "./case-events.ts";

const tea = placed([
  { lineId: "L1", quantity: 2, unitAmount: 100 },
  { lineId: "L2", quantity: 1, unitAmount: 300 },
]);

describe("identity and payload", () => {
  test("another body under one id is a conflict, and the first stands", () => {
    const first = captured("c", null, 100);
    const { order } = tell(tea, first, { ...first, data: { ...(first.data as object), amount: 200 } });
    expect(order.conflicts).toEqual([identityOf(first)]);
    expect(order.capturedMinor).toBe(100);
  });

  test("a body that differs only in key order, time or unknown fields is the same", () => {
    const first = captured("c", null, 100);
    const again = {
      ...first,
      time: "2026-11-29T10:00:00Z",
      schemaversion: 1,
      data: { currency: "JPY", brand: "visa", amount: 100, authorizationId: null, captureId: "c" },
    };
    expect(tell(tea, first, again).order).toMatchObject({ conflicts: [], repeats: 1 });
  });

  test("one identity under two lcids is one event", () => {
    const event = captured("c", null, 100);
    const reference = referenceOf([event, { ...event, lcid: "A-2" }]);
    expect([...reference.keys()]).toEqual(["A-1"]);
    expect(reference.get("A-1")?.conflicts).toHaveLength(1);
  });

  test("the same id from another source is another event", () => {
    const event = authorized("a", 100);
    const other = { ...authorized("b", 100), id: event.id, source: "/elsewhere" };
    expect(tell(tea, event, other).order.authorizedMinor).toBe(200);
  });

  test.each([
    ["a float", captured("c", null, 10.5)],
    ["an amount of zero", captured("c", null, 0)],
    ["an unsafe integer", captured("c", null, 2 ** 53)],
    [
      "a numeral",
      say("payment.captured", { captureId: "c", authorizationId: null, amount: "5", currency: "JPY" }),
    ],
    ["a missing field", say("payment.captured", { captureId: "c", amount: 5, currency: "JPY" })],
    ["no data", say("payment.captured", undefined)],
    ["an unknown currency", say("payment.authorized", { authorizationId: "a", amount: 5, currency: "YEN" })],
    ["a reference with a blank", captured("c 1", null, 5)],
    ["a line twice", shipped("p", ["L1", 1], ["L1", 1])],
    ["no items", say("inventory.shipped", { shipmentId: "p", items: [] })],
    ["a quantity of 10,000", reserved("s", "L1", 10_000)],
    ["a NUL", say("cancel.requested", { cancelId: "x", scope: "order", reason: "a\u0000b" })],
    ["a lone surrogate", say("cancel.requested", { cancelId: "x", scope: "order", reason: "\ud800" })],
    ["a scope without its items", say("cancel.requested", { cancelId: "x", scope: "lines", reason: "r" })],
    ["a prototype key", say("cancel.confirmed", JSON.parse('{"cancelId":"x","__proto__":{"a":1}}'))],
    ["a schemaversion that is none", { ...cancelConfirmed("x"), schemaversion: 1.5 }],
    ["a negative total", placed([{ lineId: "L1", quantity: 1, unitAmount: 100 }], { adjustment: -101 })],
  ])("%s is an invalid payload", (_what, event) => {
    expect(tell(event).outcomes).toEqual(["rejected INVALID_PAYLOAD"]);
    expect(tell(tea, event).order.version).toBe(1);
  });

  test("too deep and too large are invalid, of unknown types too", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 40; level += 1) deep = [deep];
    expect(tell(say("payment.disputed", { deep })).outcomes).toEqual(["rejected INVALID_PAYLOAD"]);
    const large = say("payment.disputed", { text: "x".repeat(70_000) });
    expect(tell(large).outcomes).toEqual(["rejected INVALID_PAYLOAD"]);
  });

  test("an unknown type or a newer schema waits for a newer worker, and is not counted as held", () => {
    const { order, outcomes } = tell(
      tea,
      say("payment.disputed", {}),
      { ...captured("c", null, 1.5), schemaversion: 2 },
      say("toString", {}),
    );
    expect(outcomes.slice(1)).toEqual(Array(3).fill("deferred UNSUPPORTED"));
    expect(order.held).toBe(0);
  });
});

describe("business keys", () => {
  test("a known key with equal data is a duplicate, with other data a conflict of references", () => {
    const { outcomes } = tell(tea, tea, { ...placed([{ lineId: "L1", quantity: 9 }]), id: "other" });
    expect(outcomes).toEqual(["applied", "applied", "rejected REF_CONFLICT"]);
  });

  test("placed and added lines share their keys", () => {
    expect(tell(tea, added("L1", 2, 100), added("L1", 3, 100), added("L3", 1)).outcomes).toEqual([
      "applied",
      "duplicate",
      "rejected REF_CONFLICT",
      "applied",
    ]);
  });

  test("both kinds of line edit share their keys", () => {
    const { outcomes } = tell(tea, changed("e", "L1", 2, 3), removed("e", "L1", 3));
    expect(outcomes.at(-1)).toBe("rejected REF_CONFLICT");
  });

  test("only an applied event holds its key", () => {
    const { outcomes } = tell(
      tea,
      authorized("a", 100),
      captured("c", "a", 200),
      captured("c", "a", 100),
      captured("c", "a", 100),
    );
    expect(outcomes.slice(2)).toEqual(["rejected OVER_CAPTURE", "applied", "duplicate"]);
  });

  test("a business key stands even where the order is cancelled", () => {
    const { outcomes } = tell(
      tea,
      cancelRequested("x"),
      cancelConfirmed("x"),
      added("L1", 2, 100),
      added("L9", 1),
    );
    expect(outcomes.slice(3)).toEqual(["duplicate", "rejected ORDER_CANCELLED"]);
  });
});

describe("held events", () => {
  test("are asked again by arrival, from the start after each success", () => {
    const { order } = tell(
      tea,
      captured("c1", "a", 400),
      captured("c2", "a", 400),
      refunded("r", "c1", 100),
      authorized("a", 500),
    );
    expect([...order.outcomes.values()].map(({ outcome, version }) => [outcome, version])).toEqual([
      ["applied", 1],
      ["applied", 3],
      ["rejected", null],
      ["applied", 4],
      ["applied", 2],
    ]);
  });

  test("a held duplicate of what was applied meanwhile is a duplicate", () => {
    expect(tell(captured("c", null, 5), captured("c", null, 5), tea).outcomes).toEqual([
      "applied",
      "duplicate",
      "applied",
    ]);
  });

  test("wait a hundred at most", () => {
    const early = Array.from({ length: 102 }, (_, index) => authorized(`a${index}`, 1));
    const { order, outcomes } = tell(...early, say("payment.disputed", {}));
    expect(outcomes.slice(99)).toEqual([
      "deferred ORDER_NOT_FOUND",
      "rejected HELD_LIMIT",
      "rejected HELD_LIMIT",
      "deferred UNSUPPORTED",
    ]);
    expect(order.held).toBe(100);
    expect(tell(...early, tea).order).toMatchObject({ held: 0, version: 101 });
  });

  test("name the reason that stands in the way now", () => {
    expect(tell(captured("c", "a", 5), tea).outcomes).toEqual(["deferred AUTHORIZATION_NOT_SEEN", "applied"]);
  });
});
