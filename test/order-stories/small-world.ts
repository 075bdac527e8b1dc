import type { EventEnvelope } from "@junban/orders";
import fc from "fast-check";

/**
 * Histories from a world so small that everything meets everything: three lines, three names of each kind, a handful of
 * amounts. Nothing here knows what is sensible; most of what it says is wrong about something.
 */

const line = fc.constantFrom("L1", "L1", "L2", "L2", "L3");
const quantity = fc.constantFrom(1, 1, 1, 2, 2, 3, 4);
const amount = fc.constantFrom(50, 99, 100, 100, 149, 150, 200, 300, 500);
const currency = fc.constantFrom(...Array<string>(19).fill("JPY"), "USD");

function names(kind: string, count = 3): fc.Arbitrary<string> {
  return fc.constantFrom(...Array.from({ length: count }, (_, index) => `${kind}${index + 1}`));
}
const [authorization, capture, refund, voidName] = [names("a"), names("c", 6), names("r", 5), names("v")];
const [reservation, shortage, release, shipment] = [
  names("s", 7),
  names("m", 4),
  names("f", 5),
  names("p", 7),
];
const [cancel, change] = [names("x", 4), names("e", 7)];

const lineQuantities = fc.uniqueArray(fc.record({ lineId: line, quantity }), {
  minLength: 1,
  maxLength: 2,
  selector: (item) => item.lineId,
});

interface Said {
  readonly type: string;
  readonly data: unknown;
}

function saying(type: string, data: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Said> {
  return fc.record({ type: fc.constant(type), data: fc.record(data) });
}

const placement: fc.Arbitrary<Said> = saying("order.placed", {
  currency: fc.constant("JPY"),
  adjustment: fc.constantFrom(-150, -50, 0, 0, 0, 50),
  shipGate: fc.constantFrom("captured", "authorized"),
  lines: fc
    .tuple(
      fc.record({ quantity: fc.integer({ min: 1, max: 4 }), unitAmount: fc.constantFrom(0, 50, 100, 150) }),
      fc.option(fc.record({ quantity: fc.integer({ min: 1, max: 3 }), unitAmount: fc.constantFrom(0, 100) })),
    )
    .map(([first, second]) => [
      { lineId: "L1", sku: "TEA", ...first },
      ...(second === null ? [] : [{ lineId: "L2", sku: "CUP", ...second }]),
    ]),
});

const said: fc.Arbitrary<Said> = fc.oneof(
  { weight: 1, arbitrary: placement },
  {
    weight: 2,
    arbitrary: saying("line.added", {
      lineId: line,
      sku: fc.constantFrom("TEA", "CUP"),
      quantity,
      unitAmount: fc.constantFrom(0, 100, 1e9),
    }),
  },
  {
    weight: 4,
    arbitrary: saying("line.quantity_changed", {
      changeId: change,
      lineId: line,
      fromQuantity: fc.constantFrom(0, 1, 1, 2, 2, 3, 4),
      toQuantity: fc.constantFrom(1, 2, 3, 4, 9_999),
    }),
  },
  {
    weight: 2,
    arbitrary: saying("line.removed", {
      changeId: change,
      lineId: line,
      fromQuantity: fc.constantFrom(0, 1, 2, 3),
    }),
  },
  {
    weight: 4,
    arbitrary: saying("payment.authorized", { authorizationId: authorization, amount, currency }),
  },
  {
    weight: 5,
    arbitrary: saying("payment.captured", {
      captureId: capture,
      authorizationId: fc.option(authorization),
      amount,
      currency,
    }),
  },
  {
    weight: 2,
    arbitrary: saying("payment.voided", {
      voidId: voidName,
      authorizationId: authorization,
      amount,
      reason: fc.constantFrom("voided", "expired"),
    }),
  },
  {
    weight: 3,
    arbitrary: saying("payment.refunded", { refundId: refund, captureId: capture, amount, currency }),
  },
  {
    weight: 1,
    arbitrary: saying("payment.failed", {
      stage: fc.constant("authorization"),
      ref: authorization,
      code: fc.constantFrom("declined", "timeout"),
    }),
  },
  {
    weight: 2,
    arbitrary: saying("payment.failed", {
      stage: fc.constant("capture"),
      ref: capture,
      code: fc.constantFrom("declined", "timeout"),
    }),
  },
  {
    weight: 2,
    arbitrary: saying("payment.failed", {
      stage: fc.constant("refund"),
      ref: refund,
      code: fc.constantFrom("declined", "timeout"),
    }),
  },
  {
    weight: 6,
    arbitrary: saying("inventory.reserved", { reservationId: reservation, lineId: line, quantity }),
  },
  {
    weight: 2,
    arbitrary: saying("inventory.reserved", {
      reservationId: reservation,
      lineId: line,
      quantity,
      shortageId: shortage,
    }),
  },
  { weight: 2, arbitrary: saying("inventory.short", { shortageId: shortage, lineId: line, quantity }) },
  {
    weight: 3,
    arbitrary: saying("inventory.released", {
      releaseId: release,
      reservationId: reservation,
      quantity,
      reason: fc.constant("surplus"),
    }),
  },
  { weight: 5, arbitrary: saying("inventory.shipped", { shipmentId: shipment, items: lineQuantities }) },
  {
    weight: 1,
    arbitrary: saying("cancel.requested", {
      cancelId: cancel,
      scope: fc.constant("order"),
      reason: fc.constant("changed_mind"),
    }),
  },
  {
    weight: 3,
    arbitrary: saying("cancel.requested", {
      cancelId: cancel,
      scope: fc.constant("lines"),
      items: lineQuantities,
      reason: fc.constant("changed_mind"),
    }),
  },
  { weight: 3, arbitrary: saying("cancel.confirmed", { cancelId: cancel }) },
  { weight: 1, arbitrary: saying("cancel.rejected", { cancelId: cancel }) },
);

/** Data that breaks a rule in one place. */
const broken: fc.Arbitrary<Said> = fc.oneof(
  fc.record({
    type: fc.constant("payment.captured"),
    data: fc.constantFrom<unknown>(
      ...[0.5, 0, -1, 1e13, 2 ** 53, "100", null].map((wrong) => ({
        captureId: "c1",
        authorizationId: null,
        amount: wrong,
        currency: "JPY",
      })),
      { captureId: "c1", amount: 100, currency: "JPY" },
      { captureId: "c 1", authorizationId: null, amount: 100, currency: "JPY" },
      { captureId: "c1", authorizationId: null, amount: 100, currency: "yen" },
      null,
      [],
      "text",
    ),
  }),
  fc.record({
    type: fc.constant("inventory.shipped"),
    data: fc.constantFrom<unknown>(
      { shipmentId: "p1", items: [] },
      {
        shipmentId: "p1",
        items: [
          { lineId: "L1", quantity: 1 },
          { lineId: "L1", quantity: 2 },
        ],
      },
      { shipmentId: "p1", items: [{ lineId: "L1", quantity: 10_000 }] },
      { shipmentId: "p1" },
    ),
  }),
  fc.record({
    type: fc.constant("cancel.requested"),
    data: fc.constantFrom<unknown>(
      { cancelId: "x1", scope: "lines", reason: "r" },
      { cancelId: "x1", scope: "all", reason: "r" },
      { cancelId: "x1", scope: "order" },
      { cancelId: "x1", scope: "order", reason: "a\u0000b" },
      { cancelId: "x1", scope: "order", reason: "r", note: "\udc00" },
    ),
  }),
  fc.constant({
    type: "order.placed",
    data: {
      currency: "JPY",
      adjustment: -101,
      shipGate: "captured",
      lines: [{ lineId: "L1", sku: "TEA", quantity: 1, unitAmount: 100 }],
    },
  }),
  fc.constant({ type: "payment.disputed", data: { text: "a\u0000b" } }),
);

const unsupported: fc.Arbitrary<Said> = fc.constantFrom(
  { type: "payment.disputed", data: { disputeId: "d1" } },
  { type: "constructor", data: {} },
);

/** Whose turn to speak: mostly a new id, now and then one that was used. */
interface Speech {
  readonly said: Said;
  readonly lcid: string;
  readonly reuse: number | null;
  readonly schemaversion: number | null;
}

function sometimes<Value>(share: number, arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  const weight = Math.round(1_000 * share);
  return fc.oneof({ weight: 1_000 - weight, arbitrary: fc.constant(null) }, { weight, arbitrary });
}

function speech(lcids: readonly string[]): fc.Arbitrary<Speech> {
  return fc.record({
    said: fc.oneof(
      { weight: 60, arbitrary: said },
      { weight: 2, arbitrary: broken },
      { weight: 1, arbitrary: unsupported },
    ),
    lcid: fc.constantFrom(...lcids),
    reuse: sometimes(1 / 12, fc.nat()),
    schemaversion: sometimes(1 / 20, fc.constantFrom(1, 1, 1, 2, 1.5)),
  });
}

/** What an id that was used before says now: the same, the same in other words, or something else. */
function speakAgain(earlier: EventEnvelope, { said: now, reuse }: Speech): EventEnvelope {
  const way = (reuse ?? 0) % 4;
  if (way === 0) return { ...earlier };
  if (
    way === 1 &&
    typeof earlier.data === "object" &&
    earlier.data !== null &&
    !Array.isArray(earlier.data)
  ) {
    const reversed = Object.fromEntries(Object.entries(earlier.data).toReversed());
    return { ...earlier, time: "2026-11-29T12:00:00Z", data: { ...reversed, unheardOf: [1, { b: 2 }] } };
  }
  return { ...earlier, type: now.type, data: now.data };
}

function speak(speeches: readonly Speech[]): readonly EventEnvelope[] {
  const events: EventEnvelope[] = [];
  for (const [index, spoken] of speeches.entries()) {
    const { said: now, lcid, reuse, schemaversion } = spoken;
    const earlier = reuse === null ? undefined : events[reuse % Math.max(1, events.length)];
    if (earlier !== undefined) {
      events.push(speakAgain(earlier, spoken));
      continue;
    }
    const version = schemaversion === null ? {} : { schemaversion };
    events.push({ specversion: "1.0", id: `e${index}`, source: "/world", lcid, ...version, ...now });
  }
  return events;
}

/** A chaotic history of one or two orders that are placed at some point, if all goes well. */
export const chaoticHistory: fc.Arbitrary<readonly EventEnvelope[]> = fc
  .record({
    placements: fc.tuple(placement, placement),
    at: fc.tuple(fc.nat(8), fc.nat(30)),
    speeches: fc.array(speech(["A-1", "A-1", "A-1", "A-2"]), { minLength: 1, maxLength: 110, size: "max" }),
  })
  .map(({ placements, at, speeches }) => {
    const all = [...speeches];
    for (const [index, lcid] of ["A-1", "A-2"].entries()) {
      const now = placements[index] as Said;
      all.splice(at[index] ?? 0, 0, { said: now, lcid, reuse: null, schemaversion: null });
    }
    return speak(all);
  });

/** The same events with some of them moved: each by at most `reach` places towards the front. */
export function displaced(
  events: readonly EventEnvelope[],
  moves: readonly { from: number; by: number }[],
): readonly EventEnvelope[] {
  const order = [...events];
  for (const { from, by } of moves) {
    const index = from % order.length;
    const [event] = order.splice(index, 1);
    if (event !== undefined) order.splice(Math.max(0, index - by), 0, event);
  }
  return order;
}
