import { FAMILIES, familyOf, readEnvelope, readEnvelopeText } from "@junban/orders";
import { describe, expect, test } from "vitest";
import { envelope } from "./events.ts";

const LONE = "\ud800";
const E_COMPOSED = "\u00e9";
const E_DECOMPOSED = "e\u0301";

function isUsable(attributes: Record<string, unknown>): boolean {
  return readEnvelope(envelope("payment.captured", {}, attributes)).kind === "usable";
}

function brokenField(attributes: Record<string, unknown>): string | null {
  const reading = readEnvelope(envelope("payment.captured", {}, attributes));
  return reading.kind === "unusable" ? reading.field : null;
}

describe("a usable envelope", () => {
  test("is handed back as it came", () => {
    const input = envelope(
      "payment.captured",
      { amount: 1.5 },
      { traceparent: "00-abc", dataschema: "https://x" },
    );
    const reading = readEnvelope(input);
    expect(reading).toEqual({ kind: "usable", envelope: input });
    expect(reading.kind === "usable" && reading.envelope).toBe(input);
  });

  test.each([undefined, null, 5, "text", [], { amount: -1 }])("says nothing about its data: %j", (data) => {
    expect(readEnvelope(envelope("payment.captured", data)).kind).toBe("usable");
  });

  test.each([
    "a:b",
    "a:b:c",
    "123",
    " padded ",
    "日本",
    "0",
    "'); DROP TABLE orders;--",
    "*",
    "{x}",
    "x".repeat(256),
  ])("may have the id %j", (id) => {
    expect(isUsable({ id })).toBe(true);
  });

  test("counts a character outside the basic plane as one", () => {
    expect(isUsable({ id: "😀".repeat(256) })).toBe(true);
    expect(isUsable({ id: "😀".repeat(257) })).toBe(false);
  });

  test("may be of a type nobody knows", () => {
    expect(isUsable({ type: "gift.wrapped" })).toBe(true);
  });
});

describe("an unusable envelope", () => {
  test.each([null, undefined, 1, "text", true, [], [envelope("x")]])("is not an object: %j", (input) => {
    expect(readEnvelope(input)).toEqual({ kind: "unusable", field: "event", rule: "a JSON object" });
  });

  test.each(["", "{", "{'a':1}", "undefined", "\u0000"])("is not JSON: %j", (text) => {
    expect(readEnvelopeText(text)).toEqual({ kind: "unusable", field: "event", rule: "well-formed JSON" });
  });

  test.each(["1.0.0", "0.3", 1, 1.0, null, undefined, ""])(
    "is of another CloudEvents version: %j",
    (specversion) => {
      expect(brokenField({ specversion })).toBe("specversion");
    },
  );

  test.each(["id", "source", "type"])("has no proper %s", (name) => {
    const values = [
      undefined,
      null,
      "",
      123,
      0,
      {},
      ["a"],
      true,
      "x".repeat(257),
      "a\u0000b",
      "a\nb",
      "a\u007fb",
      "a\u0085b",
      `a${LONE}b`,
    ];
    for (const value of values) expect(brokenField({ [name]: value }), JSON.stringify(value)).toBe(name);
  });

  test("never repeats a value", () => {
    const reading = readEnvelope(envelope("payment.captured", {}, { id: "4111-1111\u0000" }));
    expect(JSON.stringify(reading)).not.toContain("4111");
  });

  test("is an object whose attributes throw", () => {
    const hostile = Object.defineProperty({}, "specversion", {
      get() {
        throw new Error("no");
      },
    });
    expect(readEnvelope(hostile)).toMatchObject({ kind: "unusable", field: "event" });
  });

  test("does not take attributes from a __proto__ key", () => {
    const text = `{"__proto__":${JSON.stringify(envelope("payment.captured"))}}`;
    expect(readEnvelopeText(text).kind).toBe("unusable");
  });
});

describe("an lcid", () => {
  test.each(["A", "0", "a.b_c:d@e/f+g=h~i-j", "x".repeat(128), "ORD1", "ord1", "..", "/", "__proto__"])(
    "may be %j",
    (lcid) => {
      expect(isUsable({ lcid })).toBe(true);
    },
  );

  test.each([
    "",
    " ord1",
    "ord1 ",
    "ord1\n",
    "ord 1",
    "a{b}",
    "a*b",
    "a,b",
    "a#b",
    "a%b",
    "a\u0000b",
    "a\\b",
    "注文",
    E_COMPOSED,
    E_DECOMPOSED,
    "x".repeat(129),
    1001,
    null,
    undefined,
    ["A"],
  ])("may not be %j", (lcid) => {
    expect(brokenField({ lcid })).toBe("lcid");
  });

  test("is kept byte for byte", () => {
    for (const lcid of ["ORD1", "ord1"]) {
      const reading = readEnvelope(envelope("x.y", {}, { lcid }));
      expect(reading.kind === "usable" && reading.envelope.lcid).toBe(lcid);
    }
  });
});

describe("JSON text", () => {
  test("is read like the object", () => {
    const input = envelope("payment.captured", { captureId: "c-1" });
    expect(readEnvelopeText(JSON.stringify(input))).toEqual({ kind: "usable", envelope: input });
  });

  test("lets the last of repeated keys count", () => {
    const text = JSON.stringify(envelope("payment.captured", {})).replace('"id":', '"id":"first","id":');
    const reading = readEnvelopeText(text);
    expect(reading.kind === "usable" && reading.envelope.id).toBe("evt-81");
  });
});

describe("a family", () => {
  test.each([
    ["payment.captured", "payment"],
    ["payment.chargeback", "payment"],
    ["inventory.shipped", "inventory"],
    ["cancel.requested", "cancel"],
    ["order.placed", "line-item"],
    ["line.added", "line-item"],
    ["gift.wrapped", "line-item"],
    ["payments.captured", "line-item"],
    ["payment", "line-item"],
    ["Payment.captured", "line-item"],
  ])("of %s is %s", (type, family) => {
    expect(familyOf(type)).toBe(family);
    expect(FAMILIES).toContain(family);
  });
});
