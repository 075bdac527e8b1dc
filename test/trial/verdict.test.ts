import { referenceOf, tellStories } from "@junban/order-stories";
import type { ActualOrder } from "@junban/order-stories";
import { isGood, verdictOf, type DecidedEvent, type Evidence } from "@junban/trial";
import { expect, test } from "vitest";

const stream = tellStories({ seed: 11, orders: 12, hotOrder: { events: 40 } });
const reference = referenceOf(stream.map(({ event }) => event));
const sendings = stream.map(({ event }) => event);

/** What a database would hold after a run in which everything went well. */
function soundEvidence(): Evidence {
  const places = new Map<string, number>();
  for (const { event } of stream) {
    const identity = JSON.stringify([event.source, event.id]);
    if (!places.has(identity)) places.set(identity, places.size + 1);
  }
  const events = [...reference.values()].flatMap((order) =>
    [...order.outcomes].map(([identity, outcome]): DecidedEvent => ({
      ...outcome,
      lcid: order.lcid,
      seq: places.get(identity) ?? 0,
    })),
  );
  return { sendings, events, orders: [...reference.values()], audit: new Map(), reference };
}

function without(events: readonly DecidedEvent[], index: number): readonly DecidedEvent[] {
  return events.filter((_, place) => place !== index);
}

test("a sound run is good, and every acknowledged sending is accounted for", () => {
  const verdict = verdictOf(soundEvidence());
  expect(verdict).toMatchObject({ lost: 0, doubled: 0, inversions: 0, drift: 0, failed: 0, wrong: [] });
  expect(isGood(verdict)).toBe(true);
  const { published, applied, duplicates, rejected, deferred, failed, sentAgain } = verdict;
  expect(published).toBe(stream.length);
  expect(applied + duplicates + rejected + deferred + failed).toBe(published);
  expect(sentAgain).toBe(stream.filter(({ repeatOf }) => repeatOf !== null).length);
  expect(verdict.ordersChecked).toBe(13);
});

test("an acknowledged event without a row is lost", () => {
  const sound = soundEvidence();
  const verdict = verdictOf({ ...sound, events: without(sound.events, 5) });
  expect(verdict.lost).toBe(1);
  expect(verdict.wrong.join("\n")).toMatch(/was acknowledged and has no row/u);
  expect(isGood(verdict)).toBe(false);
});

test("an event decided before an earlier one of its order is an inversion, whatever other orders do", () => {
  const sound = soundEvidence();
  const [first, second] = sound.events
    .filter(({ lcid }) => lcid === "A-HOT")
    .toSorted((one, other) => one.seq - other.seq);
  const swapped = sound.events.map((event) => {
    if (event === first) return { ...event, seq: second!.seq };
    return event === second ? { ...event, seq: first!.seq } : event;
  });
  const verdict = verdictOf({ ...sound, events: swapped });
  expect(verdict).toMatchObject({ inversions: 1, lost: 0, drift: 0 });
  expect(verdict.wrong).toEqual([expect.stringMatching(/^A-HOT: .* overtook an earlier event$/u)]);
  expect(isGood(verdict)).toBe(false);
});

test("a repeat that comes late is no inversion", () => {
  const sound = soundEvidence();
  const again = [...sound.sendings, ...sound.sendings.slice(0, 20)];
  expect(verdictOf({ ...sound, sendings: again })).toMatchObject({ inversions: 0, lost: 0, drift: 0 });
});

test("an order whose rows differ from its history drifts, and is counted once", () => {
  const audit = new Map([
    ["A-1001", ["A-1001: orders.version is 3, its history gives 4", "A-1001: another"]],
  ]);
  const verdict = verdictOf({ ...soundEvidence(), audit });
  expect(verdict).toMatchObject({ drift: 1, lost: 0, inversions: 0 });
  expect(verdict.wrong).toHaveLength(2);
  expect(isGood(verdict)).toBe(false);
});

test.each<[string, (order: ActualOrder) => readonly ActualOrder[]]>([
  ["captured twice", (order) => [{ ...order, capturedMinor: order.capturedMinor + 100 }]],
  ["one version too many", (order) => [{ ...order, version: order.version + 1 }]],
  ["missing", () => []],
  ["there, and another one that nobody published", (order) => [order, { ...order, lcid: "A-9999" }]],
])("an order that is %s differs from the reference, which is drift", (_, change) => {
  const sound = soundEvidence();
  const [order, ...others] = sound.orders;
  const verdict = verdictOf({ ...sound, orders: [...change(order!), ...others] });
  expect(verdict).toMatchObject({ drift: 1, lost: 0, inversions: 0 });
  expect(isGood(verdict)).toBe(false);
});

test.each<[string, (order: ActualOrder) => ActualOrder]>([
  ["captured twice", (order) => ({ ...order, capturedMinor: order.capturedMinor + 100 })],
  ["one version too many", (order) => ({ ...order, version: order.version + 1 })],
  [
    "shipped twice",
    (order) => ({ ...order, lines: order.lines.map((line) => ({ ...line, shipped: line.shipped + 1 })) }),
  ],
  ["of nobody's publishing", (order) => ({ ...order, lcid: "A-9999" })],
])("an order that is %s had something applied twice", (_, change) => {
  const sound = soundEvidence();
  const [order, ...others] = sound.orders;
  expect(verdictOf({ ...sound, orders: [change(order!), ...others] }).doubled).toBe(1);
});

test("an order of which less was applied than published is no double", () => {
  const sound = soundEvidence();
  const [order, ...others] = sound.orders;
  const less = { ...order!, version: order!.version - 1 };
  expect(verdictOf({ ...sound, orders: [less, ...others] })).toMatchObject({ doubled: 0, drift: 1 });
});

test("an event with another outcome than the reference's is drift", () => {
  const sound = soundEvidence();
  const [event, ...others] = sound.events;
  const failed = { ...event!, outcome: "failed", reason: null, version: null };
  const verdict = verdictOf({ ...sound, events: [failed, ...others] });
  expect(verdict).toMatchObject({ failed: 1, drift: 1 });
  expect(isGood(verdict)).toBe(false);
});

test("reasons are counted, the most frequent first", () => {
  const { rejectedBy, rejected } = verdictOf(soundEvidence());
  const counts = [...rejectedBy.values()];
  expect(counts.reduce((total, count) => total + count, 0)).toBe(rejected);
  expect(counts).toEqual(counts.toSorted((left, right) => right - left));
});
