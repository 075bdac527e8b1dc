import type { StandingEvent } from "@junban/order-store";
import { MAX_EVENT_BYTES, type EventEnvelope } from "@junban/orders";
import { describe, expect, test } from "vitest";
import { expectSound } from "./picture.ts";
import { openShop, wordsOf, wordsOnRecord, type Shop } from "./shop.ts";
import { batchOf, standing, standingText, Story } from "./story.ts";

function isStanding(odd: StandingEvent | EventEnvelope): odd is StandingEvent {
  return "publishedAtMs" in odd;
}

/** Puts something odd between two sound neighbours of its lane, beside another lane; the neighbours must not notice. */
async function applyBetween(shop: Shop, odd: StandingEvent | EventEnvelope): Promise<string> {
  const story = new Story("O1");
  const other = new Story("O2");
  const [result, beside] = await shop.store.apply([
    {
      lcid: "O1",
      requests: [
        standing(story.placed({ L1: 9 }, { id: "before" })),
        isStanding(odd) ? odd : standing(odd),
        standing(story.sold("after", 5, { id: "after" })),
      ],
    },
    batchOf("O2", [other.placed(), other.sold("c1")]),
  ]);
  expect(wordsOf(beside!)).toEqual(["applied 1", "applied 2"]);
  const words = wordsOf(result!);
  expect(words).toHaveLength(3);
  expect([words[0], words[2]?.split(" ")[0]]).toEqual(["applied 1", "applied"]);
  expect(await shop.store.readOrder("O1")).toMatchObject({ halted: false, arrivals: 3 });
  await expectSound(shop);
  return words[1]!;
}

describe("a body in the line that nobody can read", () => {
  test.each([
    ["no JSON", "this is not JSON"],
    ["an empty one", ""],
    ["half an event", '{"specversion":"1.0","id":"x","sour'],
    ["a list", "[1,2,3]"],
    ["null", "null"],
    ["an event without an id", '{"specversion":"1.0","source":"/x","type":"payment.captured","lcid":"O1"}'],
    [
      "an event whose id is a number",
      '{"specversion":"1.0","id":7,"source":"/x","type":"payment.captured","lcid":"O1"}',
    ],
    ["NUL in the raw text", "\u0000\u0000"],
    ["a lone surrogate in the raw text", "\ud800"],
    ["100,000 opening brackets", "[".repeat(100_000)],
  ])(
    "%s: is rejected INVALID_PAYLOAD in its place, kept as an excerpt, and answered the same again",
    async (_what, body) => {
      const shop = await openShop();
      const odd = standingText("unreadable-key", body);
      expect(await applyBetween(shop, odd)).toBe("rejected INVALID_PAYLOAD");
      expect(await wordsOnRecord(shop, "O1")).toEqual(["applied 1", "rejected INVALID_PAYLOAD", "applied 2"]);
      const [, row] = await shop.store.readHistory("O1");
      expect(row?.event).toBeNull();
      expect(row?.raw?.length ?? 0).toBeLessThanOrEqual(250);
      const [again] = await shop.store.apply([{ lcid: "O1", requests: [odd] }]);
      expect(wordsOf(again!)).toEqual(["again rejected INVALID_PAYLOAD"]);
    },
  );

  test("an event of another order's lane is answered in the lane where it stands, without touching the other order", async () => {
    const shop = await openShop();
    const stray = new Story("ELSEWHERE").placed();
    const words = await applyBetween(shop, standing(stray));
    expect(words).toMatch(/^rejected /u);
    expect(await shop.store.readOrder("ELSEWHERE")).toBeNull();
  });
});

describe("data that breaks a rule", () => {
  const ODD: readonly [string, (story: Story) => EventEnvelope][] = [
    ["a NUL in a string", (story) => story.sold("c\u00001")],
    ["a NUL in a key", (story) => story.event("payment.captured", { "a\u0000b": 1 })],
    ["a NUL in an unknown field", (story) => story.event("payment.captured", { note: "a\u0000b", ...SALE })],
    ["a lone surrogate", (story) => story.event("payment.captured", { note: "\ud83d", ...SALE })],
    ["a lone surrogate in a key", (story) => story.event("payment.captured", { "\udc00": 1, ...SALE })],
    ["a fraction of a yen", (story) => story.sold("c1", 10.005)],
    ["a negative amount", (story) => story.sold("c1", -5)],
    ["an amount beyond 10^12", (story) => story.sold("c1", 10 ** 12 + 1)],
    [
      "an unsafe integer in an unknown field",
      (story) => story.event("payment.captured", { big: 2 ** 53 + 2, ...SALE }),
    ],
    ["an amount as text", (story) => story.event("payment.captured", { ...SALE, amount: "1200" })],
    [
      "a currency that does not exist",
      (story) => story.event("payment.captured", { ...SALE, currency: "YEN" }),
    ],
    [
      "__proto__ as a key",
      (story) =>
        JSON.parse(
          JSON.stringify(story.event("payment.captured", SALE)).replace(
            '"amount"',
            '"__proto__":{"isAdmin":true},"amount"',
          ),
        ) as EventEnvelope,
    ],
    [
      "constructor.prototype",
      (story) => story.event("payment.captured", { constructor: { prototype: { isAdmin: true } }, ...SALE }),
    ],
    ["33 levels", (story) => story.event("payment.captured", { ...SALE, deep: nested(33) })],
    ["10,000 levels", (story) => story.event("payment.captured", { ...SALE, deep: nested(10_000) })],
    [
      "more than 64 KiB",
      (story) => story.event("payment.captured", { ...SALE, note: "x".repeat(MAX_EVENT_BYTES) }),
    ],
    ["10 MB", (story) => story.event("payment.captured", { ...SALE, note: "x".repeat(10_000_000) })],
    ["no data at all", (story) => story.event("payment.captured", undefined)],
    ["a list as data", (story) => story.event("payment.captured", [1, 2])],
  ];
  const SALE = { captureId: "c1", authorizationId: null, amount: 5, currency: "JPY" };

  test.each(ODD)(
    "%s: rejected INVALID_PAYLOAD in its place, with no event kept, and the same again later",
    async (_what, write) => {
      const shop = await openShop();
      const odd = write(new Story("ODD"));
      const event = { ...odd, lcid: "O1", id: "odd" };
      expect(await applyBetween(shop, event)).toBe("rejected INVALID_PAYLOAD");
      const row = await shop.store.readEvent({ source: event.source, id: "odd" });
      expect(row).toMatchObject({ event: null, version: null, arrival: 2 });
      expect(row?.raw).toMatch(/^[\u0020-\u007e]{0,250}$/u);
      expect(row?.detail).toMatch(/./u);
      expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined();
      expect(wordsOf(await shop.apply([event]))).toEqual(["again rejected INVALID_PAYLOAD"]);
    },
  );

  test.each([
    ["1e400 as an amount", '"amount":1e400'],
    ["1e400 in an unknown field", '"amount":5,"factor":1e400'],
    ["an integer above 2^53", '"amount":5,"number":9007199254740993'],
  ])("%s, as another client may write it: refused, never rounded", async (_what, members) => {
    const shop = await openShop();
    const body = `{"specversion":"1.0","id":"odd","source":"/x","type":"payment.captured","lcid":"O1",
      "data":{"captureId":"c1","authorizationId":null,"currency":"JPY",${members}}}`;
    expect(await applyBetween(shop, standingText("odd-key", body))).toBe("rejected INVALID_PAYLOAD");
  });
});

describe("a text that says more than the event that is read from it", () => {
  const SALE = '{"captureId":"c1","authorizationId":null,"amount":5,"currency":"JPY"}';
  const around = (first: string, last: string): string =>
    `{${first}"specversion":"1.0","id":"odd","source":"/x","type":"payment.captured","lcid":"O1","data":${SALE}${last}}`;

  test.each([
    ["an earlier value with NUL", around('"data":"\\u0000",', "")],
    ["an earlier value with half a character", around('"data":"\\ud800",', "")],
    ["an earlier value beyond any number", around('"data":1e200000,', "")],
    [
      "an earlier value too deep for a server",
      around(`"data":${"[".repeat(100_000)}${"]".repeat(100_000)},`, ""),
    ],
    ["a number that no double can tell from 0", around("", ',"note":1e-20000')],
  ])("%s: is decided and kept as it was read, and halts nothing", async (_what, body) => {
    const shop = await openShop();
    expect(await applyBetween(shop, standingText("odd-key", body))).toBe("applied 2");
    const row = await shop.store.readEvent({ source: "/x", id: "odd" });
    expect(row?.event).toEqual(JSON.parse(body));
    expect(
      wordsOf((await shop.store.apply([{ lcid: "O1", requests: [standingText("odd-key", body)] }]))[0]!),
    ).toEqual(["again applied 2"]);
  });
});

function nested(levels: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe("odd but allowed", () => {
  const HOSTILE = [
    "'); DROP TABLE orders;--",
    "$1",
    "*",
    "a:b:c",
    "123",
    "0",
    "null",
    "__proto__",
    "\\u0000",
    "%s{}[]\"'`\\",
    "redis.call('FLUSHALL')",
    "é",
    "e\u0301",
    " evt ",
    "順番",
    "🧾".repeat(128),
    "x".repeat(256),
  ];

  test("ids and sources of any look are plain data, and none is mistaken for another", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const events = HOSTILE.flatMap((name, index) => [
      story.paymentFailedAs(`id ${index}`, { id: name }),
      story.paymentFailedAs(`source ${index}`, { id: name, source: name }),
    ]);
    const words = wordsOf(await shop.apply([story.placed(), ...events]));
    expect(words).toEqual([...Array(events.length + 1).keys()].map((index) => `applied ${index + 1}`));
    for (const event of events) {
      expect((await shop.store.readEvent(event))?.event).toEqual(event);
      expect(wordsOf(await shop.apply([event]))[0]).toMatch(/^again applied /u);
    }
    await expectSound(shop);
  });

  test("orders whose names differ in one byte are different orders", async () => {
    const shop = await openShop();
    const lcids = ["ord1", "ORD1", "ord1.", "ord-1", "ord_1", "Ord1", "x".repeat(128), "a/b@c=d+e~f:g"];
    const results = await shop.store.apply(lcids.map((lcid) => batchOf(lcid, [new Story(lcid).placed()])));
    expect(results.map(wordsOf)).toEqual(lcids.map(() => ["applied 1"]));
    for (const lcid of lcids) expect(await shop.store.readOrder(lcid)).toMatchObject({ lcid, version: 1 });
    await expectSound(shop);
  });

  test("the six characters of a written-out NUL, odd texts and unknown fields survive as they were published", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const data = {
      captureId: "c1",
      authorizationId: null,
      amount: 5,
      currency: "JPY",
      note: "\\u0000 'quoted' \"doubly\" \\ $1 \u2028 \u0001 🧾 e\u0301",
      tiny: 1e-7,
      exact: Number.MAX_SAFE_INTEGER,
      nested: nested(30),
    };
    const event = story.event("payment.captured", data, { "x-trace": "abc", dataschema: "urn:x" });
    await shop.apply([story.placed(), event]);
    expect((await shop.store.readEvent(event))?.event).toEqual(event);
  });

  test("64 KiB exactly are allowed, and its neighbours do not feel it", async () => {
    const shop = await openShop();
    const event = new Story("O1").sold("big", 5, { id: "big" });
    const room = MAX_EVENT_BYTES - Buffer.byteLength(JSON.stringify({ ...event, note: "" }));
    const large = { ...event, note: "x".repeat(room) };
    expect(Buffer.byteLength(JSON.stringify(large))).toBe(MAX_EVENT_BYTES);
    expect(await applyBetween(shop, large)).toBe("applied 2");
  });

  test("a whole batch, 256 events of 60 KiB each, goes through", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const note = "ü".repeat(30_000);
    const batch = [
      story.placed(),
      ...Array.from({ length: 255 }, (_, index) => story.sold(`c${index}`, 1, { note })),
    ];
    expect(wordsOf(await shop.apply(batch)).at(-1)).toBe("applied 256");
  });

  test("amounts are whole minor units all the way: 1200 and 45 make 1245, and the largest stays exact", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const most = 10 ** 12;
    const sales = [1_200, 45, most, most - 1].map((amount, index) => story.sold(`c${index}`, amount));
    await shop.apply([story.placed(), ...sales.slice(0, 2)]);
    expect(await shop.store.readOrder("O1")).toMatchObject({ capturedMinor: 1_245, authorizedMinor: 1_245 });
    await shop.apply(sales.slice(2));
    expect(await shop.store.readOrder("O1")).toMatchObject({ capturedMinor: 1_244 + 2 * most });
    await expectSound(shop);
  });

  test("an order of 200 lines in one event, and a 201st line refused", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const lines = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`L${index}`, 1]));
    expect(wordsOf(await shop.apply([story.placed(lines), story.lineAdded("one-more")]))).toEqual([
      "applied 1",
      "rejected TOTAL_OUT_OF_RANGE",
    ]);
    expect((await shop.store.readOrder("O1"))?.lines).toHaveLength(200);
    await expectSound(shop);
  });
});
