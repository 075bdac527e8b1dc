import { referenceOf } from "@junban/order-stories";
import { type EventEnvelope, interpret } from "@junban/orders";
import { describe, expect, test } from "vitest";

/** One good payload of each type, to be spoilt one field at a time. */
const good: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "order.placed": {
    currency: "JPY",
    adjustment: 0,
    shipGate: "captured",
    lines: [{ lineId: "L1", sku: "TEA", quantity: 1, unitAmount: 100 }],
  },
  "line.added": { lineId: "L1", sku: "TEA", quantity: 1, unitAmount: 100 },
  "line.quantity_changed": { changeId: "e", lineId: "L1", fromQuantity: 1, toQuantity: 2 },
  "line.removed": { changeId: "e", lineId: "L1", fromQuantity: 1 },
  "payment.authorized": { authorizationId: "a", amount: 1, currency: "JPY" },
  "payment.captured": { captureId: "c", authorizationId: "a", amount: 1, currency: "JPY" },
  "payment.voided": { voidId: "v", authorizationId: "a", amount: 1, reason: "voided" },
  "payment.refunded": { refundId: "r", captureId: "c", amount: 1, currency: "JPY" },
  "payment.failed": { stage: "capture", ref: "c", code: "declined" },
  "inventory.reserved": { reservationId: "s", lineId: "L1", quantity: 1, shortageId: "m" },
  "inventory.short": { shortageId: "m", lineId: "L1", quantity: 1 },
  "inventory.released": { releaseId: "f", reservationId: "s", quantity: 1, reason: "surplus" },
  "inventory.shipped": { shipmentId: "p", items: [{ lineId: "L1", quantity: 1 }] },
  "cancel.requested": {
    cancelId: "x",
    scope: "lines",
    items: [{ lineId: "L1", quantity: 1 }],
    reason: "late",
  },
  "cancel.confirmed": { cancelId: "x" },
  "cancel.rejected": { cancelId: "x" },
  "payment.disputed": { disputeId: "d" },
};

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

function lines(count: number): unknown {
  return Array.from({ length: count }, (_, index) => ({
    lineId: `L${index}`,
    sku: "TEA",
    quantity: 1,
    unitAmount: 1,
  }));
}

/** On and just beyond every limit, and of every wrong kind. */
const spoilers: readonly unknown[] = [
  [undefined, null, true, {}, [], [null], [[]], [{ lineId: "L1" }], { a: 1 }, lines(200), lines(201)],
  [
    "",
    " ",
    "A b",
    "é",
    "\u{1F600}",
    "\u0000",
    "\ud800",
    "a\nb",
    "\u007f",
    "order",
    "lines",
    "captured",
    "voided",
  ],
  ["x".repeat(64), "x".repeat(65), "EUR", "XXQ", "YEN", "jpy"],
  [0, -0, -1, 1, 2, 1.5, 100, 9_999, 10_000, 1e9, 1e9 + 1, 1e12, 1e12 + 1, -1e12, -1e12 - 1, 2 ** 53],
].flat();

function spoilt(
  value: Readonly<Record<string, unknown>>,
  field: string,
  spoiler: unknown,
): Record<string, unknown> {
  const { [field]: _taken, ...rest } = value;
  return spoiler === undefined ? rest : { ...value, [field]: spoiler };
}

function* variants(type: string, data: Readonly<Record<string, unknown>>): Iterable<EventEnvelope> {
  const event: EventEnvelope = { specversion: "1.0", id: "e", source: "/s", type, lcid: "A-1", data };
  yield event;
  for (const spoiler of spoilers) {
    yield { ...event, data: spoiler };
    yield { ...event, extension: spoiler };
    yield spoilt(event, "schemaversion", spoiler) as EventEnvelope;
    yield { ...event, data: { ...data, unheardOf: spoiler } };
    for (const [field, value] of Object.entries(data)) {
      yield { ...event, data: spoilt(data, field, spoiler) };
      if (!Array.isArray(value)) continue;
      const [row] = value as Record<string, unknown>[];
      for (const name of Object.keys(row ?? {})) {
        yield { ...event, data: { ...data, [field]: [spoilt(row ?? {}, name, spoiler)] } };
      }
      yield { ...event, data: { ...data, [field]: [row, row] } };
    }
  }
  for (const levels of [31, 32, 33, 40]) {
    yield { ...event, extension: nested(levels) };
    yield { ...event, data: { ...data, unheardOf: nested(levels) } };
  }
  for (const key of ["__proto__", "constructor", "prototype", "\ud800", "a\u0000"]) {
    for (const value of ["1", '{"prototype":1}']) {
      const unheardOf: unknown = JSON.parse(`{${JSON.stringify(key)}:${value}}`);
      yield { ...event, data: { ...data, unheardOf } };
    }
  }
}

function readByOrders(event: EventEnvelope): string {
  return interpret(event).kind;
}

function readByReference(event: EventEnvelope): string {
  const [outcome] = referenceOf([event]).get(event.lcid)?.outcomes.values() ?? [];
  if (outcome?.reason === "INVALID_PAYLOAD") return "invalid";
  return outcome?.reason === "UNSUPPORTED" ? "unsupported" : "known";
}

describe("the domain and the second reading agree on what is usable", () => {
  test.each(Object.entries(good))("%s", (type, data) => {
    const all = [...variants(type, data)];
    const read = all.map(readByOrders);
    expect(all.length).toBeGreaterThan(200);
    expect(new Set(read).size).toBeGreaterThan(1);
    const differing = all.filter((event, index) => readByReference(event) !== read[index]);
    expect(differing.map((event) => `${readByOrders(event)}: ${JSON.stringify(event)}`)).toEqual([]);
  });

  test("cancel.requested, whose items depend on its scope", () => {
    const items = [{ lineId: "L1", quantity: 1 }];
    const events = [{ items }, { items: [] }, { items: null }, { items: [{}] }, {}].flatMap((more) =>
      ["order", "lines"].map((scope): EventEnvelope => {
        const data = { cancelId: "x", scope, reason: "late", ...more };
        return { specversion: "1.0", id: "e", source: "/s", type: "cancel.requested", lcid: "A-1", data };
      }),
    );
    expect(events.map(readByReference)).toEqual(events.map(readByOrders));
  });
});
