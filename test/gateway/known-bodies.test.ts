import { sameBody } from "@junban/orders";
import type { EventEnvelope } from "@junban/orders";
import { describe, expect, test } from "vitest";
import { bodyPrintOf, KnownBodies, saysTheSame } from "../../apps/gateway/src/known-bodies.ts";
import { eventOf } from "./gateway-lab.ts";

const envelope = (part: Record<string, unknown> = {}): EventEnvelope =>
  ({ ...eventOf({ id: "e-1" }), ...part }) as unknown as EventEnvelope;

const money = { authorizationId: "a-1", amount: 1200, currency: "JPY" };

describe("two bodies under one identity", () => {
  const bodies: readonly (readonly [string, EventEnvelope])[] = [
    ["one", envelope()],
    [
      "its keys in another order",
      envelope({ data: { currency: "JPY", amount: 1200, authorizationId: "a-1" } }),
    ],
    ["a field nobody knows", envelope({ data: { ...money, note: "x" } })],
    ["another amount", envelope({ data: { ...money, amount: 1201 } })],
    ["another order", envelope({ lcid: "A-2" })],
    ["another type", envelope({ type: "payment.captured" })],
    ["a type nobody knows", envelope({ type: "payment.dreamt" })],
    ["a newer version", envelope({ schemaversion: 2 })],
    ["broken data", envelope({ data: { ...money, amount: -1 } })],
    ["too large a number", envelope({ data: { ...money, amount: JSON.parse("1e400") as number } })],
    ["a dangerous key", envelope({ data: JSON.parse('{"__proto__":{"amount":1}}') as object })],
    ["no data", envelope({ data: undefined })],
  ];

  test.each(bodies)("say the same exactly when the inbox says so: %s beside each other one", (_, left) => {
    for (const [name, right] of bodies) {
      const isSame = saysTheSame(bodyPrintOf(left), bodyPrintOf(right));
      expect([name, isSame]).toEqual([name, sameBody(left, right)]);
    }
  });
});

describe("what is remembered", () => {
  test("is the first body of each identity, and no more identities than allowed", () => {
    const known = new KnownBodies({ most: 2 });
    const prints = ["a", "b", "c"].map((id) => bodyPrintOf(envelope({ id })));
    const [a, b, c] = prints;
    for (const print of prints) known.remember(print);
    const other = bodyPrintOf(envelope({ id: "c", lcid: "A-9" }));
    known.remember(other);
    expect([a, b, c].map((print) => known.of(print?.identity ?? ""))).toEqual([undefined, b, c]);
    expect(other.identity).toBe(c?.identity);
  });
});
