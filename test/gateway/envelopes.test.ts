import { readEnvelope } from "@junban/orders";
import { expect, test } from "vitest";
import { createEventValidator } from "./description.ts";
import { eventOf } from "./gateway-lab.ts";

const NAMES: readonly (readonly [name: unknown, isUsable: boolean])[] = [
  ["a", true],
  [" padded ", true],
  ["順番", true],
  ["😀", true],
  ["a|b\u00a0", true],
  ["x".repeat(256), true],
  ["😀".repeat(256), true],
  ["", false],
  ["x".repeat(257), false],
  ["😀".repeat(257), false],
  ["\0", false],
  ["a\nb", false],
  ["a\n", false],
  ["a\u001f", false],
  ["\u007f", false],
  ["\u009fa", false],
  ["\ud800", false],
  ["a\udfff", false],
  ["\ude00\ud83d", false],
  [7, false],
  [null, false],
  [undefined, false],
  [["a"], false],
];

const ORDERS: readonly (readonly [lcid: unknown, isUsable: boolean])[] = [
  ["shop:7/A@1=~._+-", true],
  ["x".repeat(128), true],
  ["x".repeat(129), false],
  ["", false],
  ["A 1", false],
  ["A-1\n", false],
  ["順", false],
  [7, false],
  [null, false],
  [undefined, false],
];

/** Wrong or right, they are judged when the event's turn comes. */
const JUDGED_LATER: readonly object[] = [
  ...[null, 0, 1, -1, 1.5, "1", true, [], undefined].map((schemaversion) => ({ schemaversion })),
  ...[null, 0, "", "yesterday", "a\u0000", {}, undefined].map((time) => ({ time })),
  ...[null, 0, "text", [], {}, { amount: -1 }, undefined].map((data) => ({ data })),
  { traceparent: 5, other: null, datacontenttype: [] },
];

const TABLE: readonly (readonly [part: object, isUsable: boolean])[] = [
  ...["id", "source", "type"].flatMap((attribute) =>
    NAMES.map(([name, isUsable]) => [{ [attribute]: name }, isUsable] as const),
  ),
  ...ORDERS.map(([lcid, isUsable]) => [{ lcid }, isUsable] as const),
  ...["0.3", "1", 1, null, undefined].map((specversion) => [{ specversion }, false] as const),
  ...JUDGED_LATER.map((part) => [part, true] as const),
];

const NO_EVENTS = [null, 1, "event", true, [], [eventOf()]];

test("what the OpenAPI document says of an event is what is taken: the same verdict on every row of a table", () => {
  const isDescribed = createEventValidator();
  const rows = [
    ...TABLE.map(([part, isUsable]) => ({ event: { ...eventOf(), ...part }, isUsable })),
    ...NO_EVENTS.map((event) => ({ event, isUsable: false })),
  ].map(({ event, isUsable }) => ({ text: JSON.stringify(event), isUsable }));
  const verdicts = rows.map(({ text, isUsable }) => {
    // As it is sent: what is undefined is absent.
    const event: unknown = JSON.parse(text);
    return { text, isUsable, taken: readEnvelope(event).kind === "usable", described: isDescribed(event) };
  });
  expect(
    verdicts.filter(({ isUsable, taken, described }) => taken !== isUsable || described !== isUsable),
  ).toEqual([]);
});
