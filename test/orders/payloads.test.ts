import { interpret } from "@junban/orders";
import { describe, expect, test } from "vitest";
import { envelope } from "./events.ts";

type Data = Readonly<Record<string, unknown>>;

const placedLine = { lineId: "L1", sku: "SKU-1", quantity: 1, unitAmount: 1200 };
const item = { lineId: "L1", quantity: 1 };

/** One good payload of each type. */
const GOOD: Readonly<Record<string, Data>> = {
  "order.placed": { currency: "JPY", adjustment: -50, shipGate: "captured", lines: [placedLine] },
  "line.added": placedLine,
  "line.quantity_changed": { changeId: "ch-1", lineId: "L1", fromQuantity: 1, toQuantity: 2 },
  "line.removed": { changeId: "ch-1", lineId: "L1", fromQuantity: 1 },
  "payment.authorized": { authorizationId: "a-1", amount: 1200, currency: "JPY" },
  "payment.captured": { captureId: "c-1", authorizationId: "a-1", amount: 1200, currency: "JPY" },
  "payment.voided": { voidId: "v-1", authorizationId: "a-1", amount: 1200, reason: "expired" },
  "payment.refunded": { refundId: "f-1", captureId: "c-1", amount: 1200, currency: "JPY" },
  "payment.failed": { stage: "capture", ref: "c-1", code: "declined" },
  "inventory.reserved": { reservationId: "r-1", lineId: "L1", quantity: 1, shortageId: "h-1" },
  "inventory.short": { shortageId: "h-1", lineId: "L1", quantity: 1 },
  "inventory.released": { releaseId: "u-1", reservationId: "r-1", quantity: 1, reason: "cancelled" },
  "inventory.shipped": { shipmentId: "s-1", items: [item] },
  "cancel.requested": { cancelId: "k-1", scope: "lines", items: [item], reason: "changed their mind" },
  "cancel.confirmed": { cancelId: "k-1" },
  "cancel.rejected": { cancelId: "k-1" },
};

function verdictOn(type: string, data: unknown, attributes: Record<string, unknown> = {}): string {
  const meaning = interpret(envelope(type, data, attributes));
  if (meaning.kind === "invalid") return `invalid ${meaning.field}`;
  return meaning.kind === "unsupported" ? `unsupported ${meaning.why}` : "known";
}

/** The good payload of a type with some fields replaced. */
function verdictWith(type: string, replaced: Data): string {
  return verdictOn(type, { ...GOOD[type], ...replaced });
}

describe.each(Object.entries(GOOD))("%s", (type, good) => {
  test("means its known fields, whatever else is there", () => {
    const meaning = interpret(
      envelope(type, { ...good, note: "kept", weightKg: 1.5, tags: [null, true, { deep: {} }] }),
    );
    expect(meaning).toEqual({ kind: "known", event: { type, lcid: "A-1001", data: good } });
  });

  test.each(Object.keys(good))("needs its %s", (field) => {
    const { [field]: _left, ...rest } = good;
    const isOptional = type === "inventory.reserved" && field === "shortageId";
    expect(verdictOn(type, rest)).toBe(isOptional ? "known" : `invalid data.${field}`);
  });

  test.each(Object.keys(good))("refuses a %s of another kind", (field) => {
    for (const value of [{}, true, [[]], "", "\n", -1, 1.5, "x".repeat(1001)]) {
      const allowsNegative = field === "adjustment" && value === -1;
      const allowsText = (field === "reason" || field === "code" || field === "sku") && value === "\n";
      const expected =
        allowsNegative || (allowsText && type !== "payment.voided") ? "known" : `invalid data.${field}`;
      expect(verdictWith(type, { [field]: value }), JSON.stringify(value)).toMatch(expected);
    }
  });

  test.each([undefined, null, 1, "text", [], true])("needs data that is an object, not %j", (data) => {
    expect(verdictOn(type, data)).toMatch(/^invalid data/);
  });
});

describe("a reference", () => {
  test.each(["a:b", "123", "x".repeat(64), "a.b_c:d@e/f+g=h~i-j", "constructor", "toString"])(
    "may be %j",
    (captureId) => {
      expect(verdictWith("payment.captured", { captureId })).toBe("known");
    },
  );

  test.each(["", "x".repeat(65), "a b", "a\n", "é", "a{b", 123, 0, null])("may not be %j", (captureId) => {
    expect(verdictWith("payment.captured", { captureId })).toBe("invalid data.captureId");
  });
});

describe("money", () => {
  test.each([1, 500, 1_000_000_000_000])("may be %d", (amount) => {
    expect(verdictWith("payment.captured", { amount })).toBe("known");
  });

  test.each([
    0,
    -0,
    -1,
    -500,
    10.005,
    0.1,
    1_000_000_000_001,
    2 ** 53,
    Infinity,
    -Infinity,
    Number.NaN,
    "1200",
    null,
    true,
    [1200],
  ])("may not be %j", (amount) => {
    expect(verdictWith("payment.captured", { amount })).toBe("invalid data.amount");
  });

  test.each([
    ["1e3", "known"],
    ["1200.0", "known"],
    ["1e400", "invalid data.amount"],
    ["9007199254740993", "invalid data.amount"],
    ["12.5", "invalid data.amount"],
  ])("written as %s is %s", (amount, verdict) => {
    const text = `{"captureId":"c-1","authorizationId":null,"amount":${amount},"currency":"JPY"}`;
    expect(verdictOn("payment.captured", JSON.parse(text))).toBe(verdict);
  });

  test.each([
    [{ unitAmount: 0 }, "known"],
    [{ unitAmount: 1_000_000_000 }, "known"],
    [{ unitAmount: 1_000_000_001 }, "invalid data.unitAmount"],
    [{ unitAmount: -1 }, "invalid data.unitAmount"],
    [{ unitAmount: 0.5 }, "invalid data.unitAmount"],
  ])("of one piece %j is %s", (replaced, verdict) => {
    expect(verdictWith("line.added", replaced)).toBe(verdict);
  });

  test.each(["JPY", "USD", "EUR", "KWD", "XOF"])("may be %s", (currency) => {
    expect(verdictWith("payment.captured", { currency })).toBe("known");
  });

  test.each(["", "jpy", "JP", "JPYX", "ABC", "XXX", "XTS", " JPY", "円", 392, null])(
    "may not be in %j",
    (currency) => {
      expect(verdictWith("payment.captured", { currency })).toBe("invalid data.currency");
    },
  );

  test("adjustments go both ways, up to 10^12", () => {
    const lines = [{ ...placedLine, quantity: 9_999, unitAmount: 1_000_000_000 }];
    for (const adjustment of [-1_000_000_000_000, 0, 1_000_000_000_000]) {
      expect(verdictWith("order.placed", { adjustment, lines })).toBe("known");
    }
    for (const adjustment of [-1_000_000_000_001, 1_000_000_000_001, 0.5]) {
      expect(verdictWith("order.placed", { adjustment, lines })).toBe("invalid data.adjustment");
    }
  });

  test("minus zero is zero", () => {
    const meaning = interpret(envelope("order.placed", { ...GOOD["order.placed"], adjustment: -0 }));
    expect(meaning).toMatchObject({ kind: "known", event: { data: { adjustment: 0 } } });
  });

  test("a placement may come to 0, but not below", () => {
    expect(verdictWith("order.placed", { adjustment: -1200 })).toBe("known");
    expect(verdictWith("order.placed", { adjustment: -1201 })).toBe("invalid data");
  });
});

describe("a quantity", () => {
  test.each([
    ["line.added", "quantity", [1, 9_999], [0, 10_000]],
    ["line.quantity_changed", "fromQuantity", [0, -0, 9_999], [-1, 10_000]],
    ["line.quantity_changed", "toQuantity", [1, 9_999], [0, 10_000]],
    ["line.removed", "fromQuantity", [0, 9_999], [-1, 10_000]],
    ["inventory.reserved", "quantity", [1, 9_999], [0, 10_000]],
    ["inventory.short", "quantity", [1, 9_999], [0, 10_000]],
    ["inventory.released", "quantity", [1, 9_999], [0, 10_000]],
  ])("%s %s may be %j, not %j", (type, field, good, bad) => {
    for (const value of good) expect(verdictWith(type, { [field]: value })).toBe("known");
    for (const value of bad) expect(verdictWith(type, { [field]: value })).toBe(`invalid data.${field}`);
  });
});

describe("a list of lines", () => {
  const lists: readonly (readonly [string, string, object])[] = [
    ["order.placed", "lines", placedLine],
    ["inventory.shipped", "items", item],
    ["cancel.requested", "items", item],
  ];

  test.each(lists)("%s %s holds 1 to 200", (type, field, entry) => {
    const entries = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...entry, lineId: `L${index}` }));
    expect(verdictWith(type, { [field]: entries(200) })).toBe("known");
    expect(verdictWith(type, { [field]: entries(201) })).toBe(`invalid data.${field}`);
    expect(verdictWith(type, { [field]: [] })).toBe(`invalid data.${field}`);
  });

  test.each(lists)("%s %s names each line once", (type, field, entry) => {
    expect(verdictWith(type, { [field]: [entry, { ...entry, lineId: "L2" }, entry] })).toBe(
      `invalid data.${field}[2].lineId`,
    );
  });

  test.each(lists)("%s %s says which entry is wrong", (type, field, entry) => {
    expect(verdictWith(type, { [field]: [entry, { ...entry, lineId: "L2", quantity: 0 }] })).toBe(
      `invalid data.${field}[1].quantity`,
    );
    expect(verdictWith(type, { [field]: [entry, null] })).toBe(`invalid data.${field}[1]`);
  });
});

describe("other fields", () => {
  test("a sale says null, a missing authorization says nothing", () => {
    expect(verdictWith("payment.captured", { authorizationId: null })).toBe("known");
    expect(verdictWith("payment.captured", { authorizationId: undefined })).toBe(
      "invalid data.authorizationId",
    );
  });

  test("a shortage that is not there may be null or absent", () => {
    for (const shortageId of [null, undefined]) {
      expect(
        interpret(envelope("inventory.reserved", { ...GOOD["inventory.reserved"], shortageId })),
      ).toMatchObject({
        kind: "known",
        event: { data: { shortageId: null } },
      });
    }
  });

  test("a cancel of the whole order names no items", () => {
    for (const items of [null, undefined, []]) {
      expect(
        interpret(envelope("cancel.requested", { ...GOOD["cancel.requested"], scope: "order", items })),
      ).toMatchObject({
        kind: "known",
        event: { data: { scope: "order", items: [] } },
      });
    }
    expect(verdictWith("cancel.requested", { scope: "order" })).toBe("invalid data.items");
    expect(verdictWith("cancel.requested", { items: null })).toBe("invalid data.items");
    const rule = (replaced: Data) =>
      interpret(envelope("cancel.requested", { ...GOOD["cancel.requested"], ...replaced }));
    expect(rule({ items: [] })).toMatchObject({ rule: "a list of 1 to 200 with scope lines" });
    expect(rule({ scope: "order" })).toMatchObject({ rule: "nothing with scope order" });
    expect(verdictWith("cancel.requested", { scope: "all" })).toBe("invalid data.scope");
  });

  test.each([
    ["payment.voided", "reason", ["voided", "expired"], ["cancelled", "Voided"]],
    ["payment.failed", "stage", ["authorization", "capture", "refund"], ["void", ""]],
    ["order.placed", "shipGate", ["captured", "authorized"], ["none", null]],
    ["line.added", "sku", ["x", "部品 1", "😀".repeat(64)], ["", "x".repeat(65), 1]],
  ])("%s %s may be %j, not %j", (type, field, good, bad) => {
    for (const value of good) expect(verdictWith(type, { [field]: value })).toBe("known");
    for (const value of bad) expect(verdictWith(type, { [field]: value })).toBe(`invalid data.${field}`);
  });
});

describe("what a newer build will know", () => {
  test.each(["gift.wrapped", "payment.chargeback", "order.", "toString", "constructor", "__proto__"])(
    "the type %s",
    (type) => {
      expect(verdictOn(type, { anything: ["at", "all"] })).toBe("unsupported type");
      expect(verdictOn(type, undefined)).toBe("unsupported type");
    },
  );

  test("a schema version above this one's, whatever its data", () => {
    expect(verdictOn("payment.captured", {}, { schemaversion: 2 })).toBe("unsupported schemaversion");
  });

  test.each([1, undefined, null])("but not the version %j", (schemaversion) => {
    expect(verdictOn("cancel.confirmed", GOOD["cancel.confirmed"], { schemaversion })).toBe("known");
  });

  test.each([0, -1, 1.5, "1", "2", true, {}, 2 ** 53])("and never the version %j", (schemaversion) => {
    expect(verdictOn("gift.wrapped", {}, { schemaversion })).toBe("invalid schemaversion");
  });
});

describe("time", () => {
  test("orders nothing, so any text will do", () => {
    for (const time of ["yesterday", "", null, undefined]) {
      expect(verdictOn("cancel.confirmed", { cancelId: "k-1" }, { time })).toBe("known");
    }
  });

  test("is text", () => {
    expect(verdictOn("cancel.confirmed", { cancelId: "k-1" }, { time: 1 })).toBe("invalid time");
  });
});

test("a broken rule is told without the value that broke it", () => {
  const secret = "4111111111111111";
  const meanings = [
    interpret(envelope("payment.captured", { ...GOOD["payment.captured"], captureId: { number: secret } })),
    interpret(envelope("payment.captured", { ...GOOD["payment.captured"], currency: secret })),
    interpret(envelope("payment.voided", { ...GOOD["payment.voided"], reason: secret })),
    interpret(envelope("payment.captured", { [`${secret} x`]: "\u0000" })),
  ];
  for (const meaning of meanings) {
    expect(meaning.kind).toBe("invalid");
    expect(JSON.stringify(meaning)).not.toContain(secret);
  }
});
