import { runInNewContext } from "node:vm";
import { interpret, MAX_EVENT_BYTES, readEnvelopeText } from "@junban/orders";
import type { EventEnvelope } from "@junban/orders";
import { describe, expect, test } from "vitest";
import { envelope } from "./events.ts";

const LONE_HIGH = "\ud83d";
const LONE_LOW = "\ude00";

/** A good event with something extra in its data. */
function withExtra(extra: unknown): EventEnvelope {
  return envelope("cancel.confirmed", { cancelId: "k-1", extra });
}

function verdictOn(event: EventEnvelope): string {
  const meaning = interpret(event);
  return meaning.kind === "invalid" ? `invalid ${meaning.field}` : meaning.kind;
}

/** Lists inside lists: the innermost is empty. */
function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}

describe("text that a database cannot keep is invalid", () => {
  test.each([
    ["NUL", "a\u0000b"],
    ["a lone high surrogate", `a${LONE_HIGH}b`],
    ["a lone high surrogate at the end", `a${LONE_HIGH}`],
    ["a lone low surrogate", `${LONE_LOW}b`],
    ["surrogates the wrong way round", `${LONE_LOW}${LONE_HIGH}`],
    ["a pair and a half", `😀${LONE_HIGH}`],
    ["the first low surrogate twice", "\udc00\udc00"],
    ["the last low surrogate", "\udfff"],
  ])("%s, in a value, a key, an attribute or an unknown type", (_name, text) => {
    expect(verdictOn(withExtra(text))).toBe("invalid data.extra");
    expect(verdictOn(withExtra(["fine", { deep: text }]))).toBe("invalid data.extra[1].deep");
    expect(verdictOn(withExtra({ [text]: 1 }))).toBe("invalid data.extra.?");
    expect(verdictOn(envelope("cancel.confirmed", { cancelId: "k-1" }, { note: text }))).toBe("invalid note");
    expect(verdictOn(envelope("gift.wrapped", { paper: text }))).toBe("invalid data.paper");
  });

  test.each(["日本", "😀", "\ud800\udc00", "\udbff\udfff", "\\u0000", "tab\tand\nnewline", "\u007f", "￿"])(
    "but not %j",
    (text) => {
      expect(verdictOn(withExtra({ [text]: text }))).toBe("known");
    },
  );

  test("six characters that only look like NUL survive as they are", () => {
    const reading = readEnvelopeText(JSON.stringify(withExtra("\\u0000")));
    expect(reading.kind === "usable" && reading.envelope.data).toMatchObject({ extra: "\\u0000" });
  });
});

describe("numbers that would not be the same on the other side are invalid", () => {
  test.each([2 ** 53, -(2 ** 53), 1e300, Infinity, -Infinity, Number.NaN])(
    "%d, also in a field nobody knows",
    (number) => {
      expect(verdictOn(withExtra(number))).toBe("invalid data.extra");
      expect(verdictOn(envelope("cancel.confirmed", { cancelId: "k-1" }, { trace: number }))).toBe(
        "invalid trace",
      );
    },
  );

  test.each([2 ** 53 - 1, -(2 ** 53 - 1), 0, -0, 1.5, 1e-7])("but not %d", (number) => {
    expect(verdictOn(withExtra(number))).toBe("known");
  });
});

describe("nesting", () => {
  test("is 32 levels at most, data being the first", () => {
    expect(verdictOn(withExtra(nested(31)))).toBe("known");
    expect(verdictOn(withExtra(nested(32)))).toMatch(/^invalid data\.extra\[0\]/);
    expect(verdictOn(envelope("gift.wrapped", nested(32)))).toBe("unsupported");
    expect(verdictOn(envelope("gift.wrapped", nested(33)))).toMatch(/^invalid data\[0\]/);
  });

  test("counts objects like lists, in every attribute", () => {
    let value: unknown = {};
    for (let level = 1; level < 33; level += 1) value = { a: value };
    expect(verdictOn(envelope("cancel.confirmed", { cancelId: "k-1" }, { note: value }))).toMatch(
      /^invalid note\.a/,
    );
  });

  test("without end is answered too", () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(verdictOn(withExtra(cyclic))).toMatch(/^invalid data\.extra/);
    expect(verdictOn(withExtra(JSON.parse("[".repeat(100_000) + "]".repeat(100_000))))).toMatch(
      /^invalid data\.extra/,
    );
  });
});

describe("size", () => {
  /** An event of exactly this many bytes. */
  function ofBytes(bytes: number, character: string): EventEnvelope {
    const empty = Buffer.byteLength(JSON.stringify(withExtra("")));
    const width = Buffer.byteLength(JSON.stringify(character)) - 2;
    const count = Math.floor((bytes - empty) / width);
    const rest = bytes - empty - count * width;
    return withExtra(character.repeat(count) + "x".repeat(rest));
  }

  test.each(["x", "字", "😀", '"', "\n", "\u0001"])("is %j up to 65536 bytes as JSON", (character) => {
    const largest = ofBytes(MAX_EVENT_BYTES, character);
    expect(Buffer.byteLength(JSON.stringify(largest))).toBe(MAX_EVENT_BYTES);
    expect(verdictOn(largest)).toBe("known");
    expect(verdictOn(ofBytes(MAX_EVENT_BYTES + 1, character))).toMatch(/^invalid (event|data\.extra)$/);
  });

  test("counts many small values as well as one large one", () => {
    expect(verdictOn(withExtra(Array.from({ length: 32_000 }, () => 0)))).toBe("known");
    expect(verdictOn(withExtra(Array.from({ length: 33_000 }, () => 0)))).toBe("invalid event");
    expect(verdictOn(withExtra(Array.from({ length: 1_000_000 }, () => 0)))).toMatch(/^invalid data\.extra/);
    expect(verdictOn(withExtra(Array.from({ length: 13_100 }, () => -1.5)))).toBe("invalid event");
  });

  test("counts attributes too", () => {
    expect(
      verdictOn(envelope("cancel.confirmed", { cancelId: "k-1" }, { note: "x".repeat(MAX_EVENT_BYTES) })),
    ).toMatch(/^invalid/);
  });
});

describe("keys that reach for prototypes are invalid", () => {
  test.each([
    '{"__proto__":{"polluted":1}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"constructor.prototype":1}',
  ])("%s", (text) => {
    expect(verdictOn(withExtra(JSON.parse(text)))).toMatch(/^invalid data\.extra\./);
    expect(verdictOn(envelope("gift.wrapped", JSON.parse(text)))).toMatch(/^invalid data\./);
    const reading = readEnvelopeText(
      JSON.stringify(envelope("cancel.confirmed", { cancelId: "k-1" })).replace(
        "{",
        `{${text.slice(1, -1)},`,
      ),
    );
    expect(reading.kind === "usable" && verdictOn(reading.envelope)).toMatch(/^invalid /);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    // The next event is unharmed.
    expect(verdictOn(withExtra(1))).toBe("known");
  });

  test.each([
    '{"constructor":"Toyota"}',
    '{"constructor":{"name":"x"}}',
    '{"prototype":{}}',
    '{"proto":1}',
    '{"toString":1}',
  ])("but not %s", (text) => {
    expect(verdictOn(withExtra(JSON.parse(text)))).toBe("known");
  });
});

describe("what is not JSON is invalid", () => {
  test.each([
    ["a function", () => 1],
    ["a symbol", Symbol("x")],
    ["a bigint", 1n],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["a hole in a list", [undefined]],
  ])("%s", (_name, value) => {
    expect(verdictOn(withExtra(value))).toMatch(/^invalid data\.extra/);
  });

  test("an object without a prototype, or with another realm's, is as plain as ours", () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(verdictOn(withExtra(bare))).toBe("known");
    expect(verdictOn(withExtra(runInNewContext("({ a: 1, b: [{}] })")))).toBe("known");
  });

  test("an undefined member is merely absent", () => {
    expect(verdictOn(withExtra(undefined))).toBe("known");
  });
});

test("repeated keys inside data: the last one counts", () => {
  const text = JSON.stringify(envelope("cancel.confirmed", { cancelId: "k-1" })).replace(
    '"cancelId":',
    '"cancelId":"k-0","cancelId":',
  );
  const reading = readEnvelopeText(text);
  expect(reading.kind === "usable" && interpret(reading.envelope)).toMatchObject({
    event: { data: { cancelId: "k-1" } },
  });
});

test("a path into a payload is bounded and repeats only plain names", () => {
  let value: unknown = "\u0000";
  for (let level = 0; level < 30; level += 1) value = { ["k".repeat(64)]: value };
  const meaning = interpret(envelope("gift.wrapped", value));
  expect(meaning).toMatchObject({ kind: "invalid", rule: "no NUL and no lone surrogate" });
  expect(meaning.kind === "invalid" && meaning.field.length).toBeLessThanOrEqual(200);
});

test.each([
  ["amount", "data.amount"],
  ["line_2", "data.line_2"],
  ["addressLine1", "data.addressLine1"],
  ["4111111111111111", "data.?"],
  ["card_4111111111111111", "data.?"],
  ["jane@example.com", "data.?"],
  ["a b", "data.?"],
  ["sk_live_4eC39HqLyjWDarjtT1zdp7dc", "data.?"],
  ["x".repeat(33), "data.?"],
])(
  "a fault under the key %j is told as %s: only what looks like a field's name is repeated",
  (key, field) => {
    expect(verdictOn(envelope("cancel.confirmed", { cancelId: "k-1", [key]: Infinity }))).toBe(
      `invalid ${field}`,
    );
  },
);
