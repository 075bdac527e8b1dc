import { interpret } from "@junban/orders";
import { describe, expect, test } from "vitest";
import { mapStripeEvent } from "../../apps/gateway/src/stripe/mapping.ts";
import { intent, refund, stripeEvent } from "./stripe-lab.ts";
import type { Fields } from "./stripe-lab.ts";

/** Type and data of what a Stripe event becomes; each has to be an event that the domain knows. */
function mapped(type: string, object: Fields): unknown[] {
  const result = mapStripeEvent(stripeEvent(type, object));
  if (result.kind !== "events") return [result.kind];
  return result.events.map((event) => {
    expect(interpret(event).kind).toBe("known");
    return [event.type, event.data];
  });
}

describe("a Stripe event becomes", () => {
  test("an authorization when an intent may be captured", () => {
    const object = intent({ amount_capturable: 1200 });
    expect(mapped("payment_intent.amount_capturable_updated", object)).toEqual([
      ["payment.authorized", { authorizationId: "pi_1", amount: 1200, currency: "EUR" }],
    ]);
  });

  test("a capture of the authorization when capture was manual, and gives up what was left", () => {
    const object = intent({ status: "succeeded", amount_received: 1000 });
    expect(mapped("payment_intent.succeeded", object)).toEqual([
      ["payment.captured", { captureId: "pi_1", authorizationId: "pi_1", amount: 1000, currency: "EUR" }],
      ["payment.voided", { voidId: "pi_1:rest", authorizationId: "pi_1", amount: 200, reason: "voided" }],
    ]);
  });

  test("a sale when capture was automatic", () => {
    const object = intent({ status: "succeeded", amount_received: 1200, capture_method: "automatic_async" });
    expect(mapped("payment_intent.succeeded", object)).toEqual([
      ["payment.captured", { captureId: "pi_1", authorizationId: null, amount: 1200, currency: "EUR" }],
    ]);
  });

  test.each([
    ["requested_by_customer", "voided"],
    ["automatic", "expired"],
    ["expired", "expired"],
  ])("a void when an authorized intent is canceled: %s", (cancellation, reason) => {
    const object = intent({ status: "canceled", cancellation_reason: cancellation });
    expect(mapped("payment_intent.canceled", object)).toEqual([
      ["payment.voided", { voidId: "pi_1", authorizationId: "pi_1", amount: 1200, reason }],
    ]);
  });

  test("a failure for each attempt that failed", () => {
    const error = { charge: "ch_2", code: "card_declined" };
    expect(mapped("payment_intent.payment_failed", intent({ last_payment_error: error }))).toEqual([
      ["payment.failed", { stage: "authorization", ref: "ch_2", code: "card_declined" }],
    ]);
    expect(mapped("payment_intent.payment_failed", intent())).toEqual([
      ["payment.failed", { stage: "authorization", ref: "evt_1", code: "unknown" }],
    ]);
  });

  test("a refund once it succeeded, made or changed, and its failure", () => {
    const expected = [
      ["payment.refunded", { refundId: "re_1", captureId: "pi_1", amount: 500, currency: "EUR" }],
    ];
    expect(mapped("refund.created", refund())).toEqual(expected);
    expect(mapped("refund.updated", refund())).toEqual(expected);
    expect(mapped("refund.failed", refund({ failure_reason: "lost_or_stolen_card" }))).toEqual([
      ["payment.failed", { stage: "refund", ref: "re_1", code: "lost_or_stolen_card" }],
    ]);
  });

  test.each([
    ["ISK", 120_000, 1200],
    ["UGX", 500_000, 5000],
    ["MGA", 1200, 120_000],
    ["JPY", 1200, 1200],
    ["KWD", 12_340, 12_340],
  ])("amounts in the minor units of ISO 4217: %s", (currency, theirs, ours) => {
    const object = refund({ currency: currency.toLowerCase(), amount: theirs });
    expect(mapped("refund.created", object)).toMatchObject([["payment.refunded", { amount: ours }]]);
  });
});

describe("a Stripe event becomes nothing", () => {
  test.each([
    ["a type that nobody mapped", "customer.created", intent()],
    ["a name of every object's", "constructor", intent()],
    [
      "an intent of which a part was captured",
      "payment_intent.amount_capturable_updated",
      intent({ status: "processing" }),
    ],
    ["a canceled intent that was never charged", "payment_intent.canceled", intent({ latest_charge: null })],
    [
      "a canceled intent with automatic capture",
      "payment_intent.canceled",
      intent({ capture_method: "automatic" }),
    ],
    ["a refund that has not succeeded", "refund.created", refund({ status: "pending" })],
  ])("when it is %s", (_, type, object) => {
    expect(mapStripeEvent(stripeEvent(type, object))).toEqual({ kind: "unmapped" });
  });

  test.each([[undefined], [null], [{}], [{ lcid: "" }], [{ lcid: "my order" }], [{ lcid: 7 }]])(
    "when its metadata names no order: %j",
    (metadata) => {
      const event = stripeEvent("refund.created", refund({ metadata }));
      expect(mapStripeEvent(event)).toEqual({ kind: "no-order" });
    },
  );

  test.each([
    [null],
    [7],
    ["x"],
    [[]],
    [{}],
    [{ object: "event" }],
    [stripeEvent("refund.created", refund(), { id: "" })],
  ])("when it is no event of Stripe's: %j", (body) => {
    expect(mapStripeEvent(body).kind).toBe("unreadable");
  });
});

test("the parts of a Stripe event have ids of their own, one source, its order and its time", () => {
  const object = intent({ status: "succeeded", amount_received: 1000 });
  const result = mapStripeEvent(stripeEvent("payment_intent.succeeded", object));
  if (result.kind !== "events") throw new Error(`it became ${result.kind}`);
  expect(result.events.map(({ id, source, lcid, time }) => [id, source, lcid, time])).toEqual([
    ["evt_1", "/stripe", "A-1", "2025-11-30T08:00:00.000Z"],
    ["evt_1:rest", "/stripe", "A-1", "2025-11-30T08:00:00.000Z"],
  ]);
});
