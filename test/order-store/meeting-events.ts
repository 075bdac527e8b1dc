import type { EventEnvelope } from "@junban/orders";
import fc from "fast-check";
import { Story } from "./story.ts";

type Events = fc.Arbitrary<EventEnvelope>;
type Weighted = fc.WeightedArbitrary<EventEnvelope>;

/** Few names and few amounts, so that events meet, clash, repeat and wait for each other all the time. */
export function meetingEvents(
  lcid: string,
  { minLength = 4, maxLength = 40 }: { minLength?: number; maxLength?: number } = {},
): fc.Arbitrary<EventEnvelope[]> {
  const story = new Story(lcid);
  const lines = { L1: 2, L2: 1 };
  const placements = ["placed", "placed again"].map((id) => story.placed(lines, { id: `${lcid} ${id}` }));
  return fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...placements) },
      ...lineEvents(story),
      ...paymentEvents(story),
      ...stockEvents(story),
      ...cancelEvents(story),
    ),
    { minLength, maxLength },
  );
}

const small = fc.integer({ min: 1, max: 3 });
const amount = fc.constantFrom(50, 100, 200);
const currency = fc.constantFrom("JPY", "JPY", "JPY", "JPY", "EUR");
const items = fc.tuple(fc.record({ lineId: one("L"), quantity: small }));

/** One of three references: `a1`, `a2`, `a3`. */
function one(name: string): fc.Arbitrary<string> {
  return small.map((number) => `${name}${number}`);
}

function event(story: Story, type: string, data: Readonly<Record<string, fc.Arbitrary<unknown>>>): Events {
  return fc.record(data).map((values) => story.event(type, values));
}

function often(weight: number, arbitrary: Events): Weighted {
  return { weight, arbitrary };
}

function lineEvents(story: Story): Weighted[] {
  const line = { lineId: one("L"), fromQuantity: small };
  return [
    often(
      1,
      event(story, "line.added", {
        lineId: one("L"),
        sku: fc.constant("sku"),
        quantity: small,
        unitAmount: fc.constant(100),
      }),
    ),
    often(1, event(story, "line.quantity_changed", { changeId: one("q"), ...line, toQuantity: small })),
    often(1, event(story, "line.removed", { changeId: one("q"), ...line })),
  ];
}

function paymentEvents(story: Story): Weighted[] {
  const authorizationId = one("a");
  const captureId = one("c");
  return [
    often(2, event(story, "payment.authorized", { authorizationId, amount, currency })),
    often(
      3,
      event(story, "payment.captured", {
        captureId,
        authorizationId: fc.option(authorizationId),
        amount,
        currency,
      }),
    ),
    often(1, event(story, "payment.captured", { captureId, amount: fc.constant(0.5) })),
    often(
      1,
      event(story, "payment.voided", {
        voidId: one("v"),
        authorizationId,
        amount,
        reason: fc.constant("voided"),
      }),
    ),
    often(1, event(story, "payment.refunded", { refundId: one("f"), captureId, amount, currency })),
    often(
      1,
      event(story, "payment.failed", {
        stage: fc.constantFrom("authorization", "capture", "refund"),
        ref: fc.oneof(authorizationId, captureId, one("f")),
        code: fc.constant("declined"),
      }),
    ),
  ];
}

function stockEvents(story: Story): Weighted[] {
  const shortageId = one("h");
  const reservationId = one("r");
  const line = { lineId: one("L"), quantity: small };
  return [
    often(
      3,
      event(story, "inventory.reserved", {
        reservationId,
        ...line,
        shortageId: fc.option(shortageId, { freq: 1 }),
      }),
    ),
    often(1, event(story, "inventory.short", { shortageId, ...line })),
    often(
      1,
      event(story, "inventory.released", {
        releaseId: one("x"),
        reservationId,
        quantity: small,
        reason: fc.constant("spare"),
      }),
    ),
    often(2, event(story, "inventory.shipped", { shipmentId: one("s"), items })),
  ];
}

function cancelEvents(story: Story): Weighted[] {
  const cancelId = one("k");
  const reason = fc.constant("changed their mind");
  return [
    often(1, event(story, "cancel.requested", { cancelId, scope: fc.constant("order"), reason })),
    often(1, event(story, "cancel.requested", { cancelId, scope: fc.constant("lines"), items, reason })),
    often(1, event(story, "cancel.confirmed", { cancelId })),
    often(1, event(story, "cancel.rejected", { cancelId })),
  ];
}
