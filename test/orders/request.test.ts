import { createHash } from "node:crypto";
import { excerptOf, interpret, MAX_EVENT_BYTES, readEnvelopeText, requestOf, sameBody } from "@junban/orders";
import type { EventEnvelope, OrderRequest } from "@junban/orders";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { envelope } from "./events.ts";

const DATA = { captureId: "c-1", authorizationId: "a-1", amount: 1200, currency: "JPY" };

function captured(attributes: Record<string, unknown> = {}): EventEnvelope {
  return envelope("payment.captured", DATA, attributes);
}

function keyOf(event: EventEnvelope): string {
  return requestOf(event).key;
}

/** What a worker makes of a request. */
function reread({ body }: OrderRequest): EventEnvelope {
  const reading = readEnvelopeText(body);
  if (reading.kind === "unusable") throw new Error(`unusable ${reading.field}`);
  return reading.envelope;
}

function expectStandIn(request: OrderRequest): void {
  expect(Buffer.byteLength(request.body)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
  const standIn = reread(request);
  expect(standIn).toMatchObject({ specversion: "1.0", id: "evt-81", source: "/payments", lcid: "A-1001" });
  expect(standIn["invalidpayload"]).toHaveProperty("rule");
  expect((standIn["invalidpayload"] as { excerpt: string }).excerpt.length).toBeLessThanOrEqual(200);
  expect(interpret(standIn).kind).toBe("invalid");
  expect(requestOf(standIn)).toEqual(request);
}

describe("a request", () => {
  test("carries the event as it came", () => {
    const event = captured({ traceparent: "00-abc" });
    expect(requestOf(event)).toMatchObject({
      lcid: "A-1001",
      type: "payment.captured",
      body: JSON.stringify(event),
    });
  });

  test("has a key that anybody can compute", () => {
    const canonical =
      '{"data":{"amount":1200,"authorizationId":"a-1","captureId":"c-1","currency":"JPY"},' +
      '"lcid":"A-1001","schemaversion":1,"type":"payment.captured"}';
    const digest = createHash("sha256").update(`/payments\0evt-81\0${canonical}`).digest();
    expect(keyOf(captured())).toBe(digest.subarray(0, 16).toString("base64url"));
    expect(keyOf(captured())).toMatch(/^[\w-]{22}$/);
  });

  test("is keyed over lists in their order and objects in the order of their keys", () => {
    const data = { b: [2, [], [1, { d: null, c: true }]], a: 'quote "' };
    const canonical =
      '{"data":{"a":"quote \\"","b":[2,[],[1,{"c":true,"d":null}]]},"lcid":"A-1001","schemaversion":1,"type":"x.y"}';
    const digest = createHash("sha256").update(`/payments\0evt-81\0${canonical}`).digest();
    expect(keyOf(envelope("x.y", data))).toBe(digest.subarray(0, 16).toString("base64url"));
  });

  test("of a request's body is that request again", () => {
    const request = requestOf(captured());
    expect(requestOf(reread(request))).toEqual(request);
  });
});

describe("a request key", () => {
  test("ignores the order of keys and everything that is not content", () => {
    const reversed = Object.fromEntries(
      Object.entries(captured({ data: Object.fromEntries(Object.entries(DATA).toReversed()) })).toReversed(),
    );
    expect(keyOf(reversed as EventEnvelope)).toBe(keyOf(captured()));
    expect(keyOf(captured({ time: "2027-01-01T00:00:00Z", traceparent: "00-def" }))).toBe(keyOf(captured()));
    expect(keyOf(captured({ schemaversion: 1 }))).toBe(keyOf(captured()));
    expect(keyOf(captured({ schemaversion: null }))).toBe(keyOf(captured()));
    expect(keyOf(captured({ data: { ...DATA, absent: undefined } }))).toBe(keyOf(captured()));
  });

  test.each([
    ["id", { id: "evt-82" }],
    ["source", { source: "/checkout" }],
    ["type", { type: "payment.refunded" }],
    ["lcid", { lcid: "a-1001" }],
    ["schema version", { schemaversion: 2 }],
    ["amount", { data: { ...DATA, amount: 1201 } }],
    ["type of an amount", { data: { ...DATA, amount: "1200" } }],
    ["unknown fields", { data: { ...DATA, note: "x" } }],
    ["missing fields", { data: { captureId: "c-1" } }],
    ["missing data", { data: undefined }],
  ])("is another for another %s", (_name, attributes) => {
    expect(keyOf(captured(attributes))).not.toBe(keyOf(captured()));
  });

  test("keeps source and id apart", () => {
    expect(keyOf(captured({ source: "a", id: "b:c" }))).not.toBe(keyOf(captured({ source: "a:b", id: "c" })));
    expect(keyOf(captured({ source: "ab", id: "c" }))).not.toBe(keyOf(captured({ source: "a", id: "bc" })));
  });

  test("keeps composed and decomposed letters, and lists and objects, apart", () => {
    const datas = [
      "\u00e9",
      "e\u0301",
      [],
      {},
      [[]],
      [{}],
      { 0: "a" },
      ["a"],
      "",
      null,
      0,
      false,
      "0",
      { a: [1, 2] },
      { a: [2, 1] },
      [1, 2],
      [12],
      { a: null },
    ];
    expect(new Set(datas.map((data) => keyOf(captured({ data })))).size).toBe(datas.length);
  });

  test("is the same before and after a journey as JSON, for any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.string(), (data, note) => {
        const event = captured({ data, note });
        const request = requestOf(event);
        expect(requestOf(JSON.parse(request.body) as EventEnvelope)).toEqual(request);
        expect(requestOf(JSON.parse(JSON.stringify(event)) as EventEnvelope)).toEqual(request);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("what JSON would not carry as it is", () => {
  test("is sent, and keyed, as its consumer will see it", () => {
    const event = captured({
      time: new Date(0),
      data: { ...DATA, at: new Date(0), gone: undefined, list: [undefined, -0] },
    });
    const request = requestOf(event);
    expect(requestOf(reread(request))).toEqual(request);
    expect(reread(request)).toMatchObject({ time: "1970-01-01T00:00:00.000Z", data: { list: [null, 0] } });
  });

  test("may be an instance of a class", () => {
    class Instance {
      readonly #event = captured();
      get specversion(): string {
        return "1.0";
      }
      toJSON(): object {
        return this.#event;
      }
    }
    expect(requestOf(new Instance() as unknown as EventEnvelope)).toEqual(requestOf(captured()));
  });

  test("bad text travels as it is and is refused where it is decided", () => {
    const request = requestOf(captured({ data: { ...DATA, note: "a\u0000b\ud800" } }));
    expect(reread(request).data).toMatchObject({ note: "a\u0000b\ud800" });
    expect(interpret(reread(request))).toMatchObject({ kind: "invalid", field: "data.note" });
    const badKey = { "a\u0000b": 1, ["__proto__"]: 2 };
    expect(reread(requestOf(captured({ data: badKey }))).data).toEqual(badKey);
  });
});

describe("an event that cannot be written down gets a stand-in", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const hostile = Object.defineProperty({}, "x", {
    enumerable: true,
    get() {
      throw new Error("no");
    },
  });

  test.each<[string, Record<string, unknown>]>([
    ["too large", { data: "x".repeat(MAX_EVENT_BYTES) }],
    ["too large in bytes", { data: "字".repeat(30_000) }],
    ["much too large", { data: Array.from({ length: 1_000_000 }, () => "x".repeat(10)) }],
    ["too large in an attribute", { note: "x".repeat(MAX_EVENT_BYTES) }],
    ["too deep", { data: JSON.parse("[".repeat(50_000) + "]".repeat(50_000)) as unknown }],
    ["33 levels deep", { data: JSON.parse("[".repeat(33) + "]".repeat(33)) as unknown }],
    ["cyclic", { data: cyclic }],
    ["cyclic behind a date", { note: new Date(0), data: cyclic }],
    ["infinite", { data: { amount: Infinity } }],
    ["infinite in an attribute", { note: Infinity }],
    ["bad text and infinite", { data: { note: "\u0000", amount: Infinity } }],
    ["a bigint", { data: { amount: 1n } }],
    ["a getter that throws", { data: hostile }],
    [
      "a toJSON that throws",
      {
        data: {
          toJSON: () => {
            throw new Error("no");
          },
        },
      },
    ],
    ["a toJSON that changes the identity", { toJSON: () => ({ id: 5 }) }],
  ])("%s", (_name, attributes) => {
    expectStandIn(requestOf(captured(attributes)));
  });

  test("up to 65536 bytes it does not", () => {
    const rest = MAX_EVENT_BYTES - JSON.stringify(captured({ note: "" })).length;
    expect(reread(requestOf(captured({ note: "x".repeat(rest) })))["invalidpayload"]).toBeUndefined();
    expectStandIn(requestOf(captured({ note: "x".repeat(rest + 1) })));
  });

  test("with a place of its own beside a good event of the same id", () => {
    expect(keyOf(captured({ data: { ...DATA, note: Infinity } }))).not.toBe(keyOf(captured()));
  });

  test("that names the rule and shows a little", () => {
    const standIn = reread(requestOf(captured({ data: { note: "秘".repeat(40_000) } })));
    expect(standIn["invalidpayload"]).toMatchObject({ rule: "at most 65536 bytes as JSON" });
    expect((standIn["invalidpayload"] as { excerpt: string }).excerpt).toMatch(/^\{"note":"\\u79d8/);
    expect(interpret(standIn)).toMatchObject({ kind: "invalid", rule: "at most 65536 bytes as JSON" });
  });

  test("that shows the beginning of every kind of value", () => {
    const deep = [[[[["deeper"]]]]];
    const data = { list: [1, null, true], empty: {}, none: [], deep, amount: Infinity };
    const { excerpt } = reread(requestOf(captured({ data })))["invalidpayload"] as { excerpt: string };
    expect(excerpt).toBe('{"list":[1,null,true],"empty":{},"none":[],"deep":[[[...]]],"amount":Infinity}');
  });

  test("without looking at more than it shows", () => {
    let looks = 0;
    const counting = (target: object) =>
      new Proxy(target, {
        get: (of, key): unknown => {
          looks += 1;
          return Reflect.get(of, key);
        },
      });
    const entry = "x".repeat(20);
    const data = { note: Infinity, list: counting(Array.from({ length: 5_000 }, () => entry)) };
    requestOf(captured({ data }));
    expect(looks).toBeLessThan(50);
    const members = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, entry]));
    looks = 0;
    requestOf(captured({ data: { note: Infinity, members: counting(members) } }));
    expect(looks).toBeLessThan(50);
  });

  test.each([null, 1, "x", {}, [], { field: 5 }, { field: "x".repeat(9_999), rule: "\u0000" }])(
    "and a stand-in that somebody forged is invalid all the same: %j",
    (invalidpayload) => {
      const meaning = interpret(captured({ invalidpayload }));
      expect(meaning).toEqual({ kind: "invalid", field: "invalidpayload", rule: "absent" });
    },
  );

  test.each([
    { field: "data.card", rule: "4111 1111 1111 1111" },
    { field: "4111111111111111", rule: "a finite number" },
    { field: "data note", rule: "a finite number" },
    { field: "data.jane@example.com", rule: "a finite number" },
  ])("and repeats no words but this package's own: %j", (invalidpayload) => {
    const meaning = interpret(captured({ invalidpayload }));
    expect(meaning).toEqual({ kind: "invalid", field: "invalidpayload", rule: "absent" });
  });

  test("and tells again what was told when it was made", () => {
    const odd = { ...captured({}), data: { list: [{ "not a name": { line_2: [1, Infinity] } }] } };
    const told = { kind: "invalid", field: "data.list[0].?.line_2[1]", rule: "a finite number" };
    expect(interpret(odd)).toEqual(told);
    expect(interpret(reread(requestOf(odd)))).toEqual(told);
  });
});

describe("two bodies are the same", () => {
  const same = (a: Record<string, unknown>, b: Record<string, unknown>): boolean =>
    sameBody(captured(a), captured(b));

  test("when type, lcid and the known fields are", () => {
    expect(same({}, {})).toBe(true);
    expect(same({}, { data: Object.fromEntries(Object.entries(DATA).toReversed()) })).toBe(true);
    expect(
      same({}, { data: { ...DATA, note: "more" }, time: "later", traceparent: "00-abc", schemaversion: 1 }),
    ).toBe(true);
  });

  test("not when one of them differs", () => {
    expect(same({}, { data: { ...DATA, amount: 1 } })).toBe(false);
    expect(same({}, { lcid: "B" })).toBe(false);
    expect(same({}, { type: "payment.refunded" })).toBe(false);
    expect(same({}, { data: {} })).toBe(false);
    expect(same({}, { schemaversion: 2 })).toBe(false);
  });

  test("across two spellings of an absent field", () => {
    const data = { reservationId: "r-1", lineId: "L1", quantity: 1 };
    const type = "inventory.reserved";
    expect(sameBody(envelope(type, data), envelope(type, { ...data, shortageId: null }))).toBe(true);
  });

  test("not across the order of a list", () => {
    const lines = [1, 2].map((index) => ({ lineId: `L${index}`, quantity: 1 }));
    const type = "inventory.shipped";
    const data = { shipmentId: "s-1", items: lines };
    expect(sameBody(envelope(type, data), envelope(type, { ...data, items: lines.toReversed() }))).toBe(
      false,
    );
  });

  test("in all their data, when this build cannot read them", () => {
    const unknown = { type: "gift.wrapped" };
    expect(same({ ...unknown, data: { a: 1, b: [2] } }, { ...unknown, data: { b: [2], a: 1 } })).toBe(true);
    expect(same({ ...unknown, data: { a: 1 } }, { ...unknown, data: { a: 1, b: 2 } })).toBe(false);
    expect(same({ data: { amount: -1, a: 1 } }, { data: { a: 1, amount: -1 } })).toBe(true);
    expect(same({ data: { amount: -1 } }, { data: { amount: -2 } })).toBe(false);
    expect(same({ schemaversion: 2 }, { schemaversion: 2 })).toBe(true);
    expect(same({ schemaversion: 2 }, { schemaversion: 3 })).toBe(false);
  });

  test("when they are one event that cannot be written down", () => {
    const tooLarge = { data: "x".repeat(MAX_EVENT_BYTES) };
    expect(same(tooLarge, { ...tooLarge })).toBe(true);
    expect(same(tooLarge, {})).toBe(false);
  });
});

describe("an excerpt", () => {
  test.each([
    ["plain text ~", "plain text ~"],
    ["", ""],
    ["tab\tnul\u0000del\u007f", "tab\\u0009nul\\u0000del\\u007f"],
    ["注文", "\\u6ce8\\u6587"],
    ["😀\ud800", "\\ud83d\\ude00\\ud800"],
    ['back\\slash "quote"', 'back\\\\slash "quote"'],
    ["\\u0000", "\\\\u0000"],
  ])("of %j is %j", (text, excerpt) => {
    expect(excerptOf(text)).toBe(excerpt);
  });

  test("is at most 200 characters and never ends inside an escape", () => {
    expect(excerptOf("x".repeat(200))).toBe("x".repeat(200));
    expect(excerptOf("x".repeat(201))).toBe(`${"x".repeat(197)}...`);
    expect(excerptOf(`${"x".repeat(195)}\\yyyy`)).toBe(`${"x".repeat(195)}\\\\...`);
    expect(excerptOf(`${"x".repeat(191)}字yyyy`)).toBe(`${"x".repeat(191)}\\u5b57...`);
    expect(excerptOf(`${"x".repeat(192)}字yyyy`)).toBe(`${"x".repeat(192)}...`);
    expect(excerptOf(`${"x".repeat(195)}字字`)).toBe(`${"x".repeat(195)}...`);
    expect(excerptOf(`${"x".repeat(196)}\\\\\\`)).toBe(`${"x".repeat(196)}...`);
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(excerptOf(text)).toMatch(/^(?:[ -[\]-~]|\\\\|\\u[0-9a-f]{4}){0,200}$/);
        expect(excerptOf(text).length).toBeLessThanOrEqual(200);
      }),
    );
  });
});
