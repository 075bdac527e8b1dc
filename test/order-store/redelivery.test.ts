import { hotStory } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import fc from "fast-check";
import { expect, test } from "vitest";
import { expectSound, pictureOf, wholeOf } from "./picture.ts";
import { openShop, wordsOf, wordsOnRecord, type Shop } from "./shop.ts";
import { batchOf, standing, standingText, Story } from "./story.ts";

const IDENTITY = { id: "evt-1", source: "/one" };

/** An order in every phase of whose life there is something to repeat: applied, duplicate, rejected, deferred, released. */
function eventfulLife(story: Story): EventEnvelope[] {
  return [
    story.captured("c1", "a1", 100),
    story.placed(),
    story.authorized("a1"),
    story.authorized("a1"),
    story.captured("c2", "a1", 5_000),
    story.event("payment.captured", { captureId: "c3" }),
    story.event("payment.teleported", {}),
    story.refunded("f1", "c9", 10),
    story.reserved("r1"),
    story.shipped("s1"),
  ];
}

const LIFE = [
  "applied 3",
  "applied 1",
  "applied 2",
  "duplicate",
  "rejected OVER_CAPTURE",
  "rejected INVALID_PAYLOAD",
  "deferred UNSUPPORTED",
  "deferred CAPTURE_NOT_SEEN",
  "applied 4",
  "deferred PAYMENT_NOT_CONFIRMED",
];

test("version rises by one per applied event, arrival by one per first decision, and nothing else moves either", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  const events = eventfulLife(story);
  let [version, arrivals] = [0, 0];
  for (const event of events) {
    const result = await shop.apply([event, event]);
    const applied = result.settled.filter(({ outcome, repeat }) => outcome === "applied" && !repeat).length;
    version += applied + result.released;
    arrivals += 1;
    expect(await shop.store.readOrder("O1")).toMatchObject({ version, arrivals });
    expect(wordsOf(result)[1]).toBe(`again ${wordsOf(result)[0]}`);
  }
  expect(await wordsOnRecord(shop, "O1")).toEqual(LIFE);
  await expectSound(shop);
});

test("redelivery in any order, any number of times, in any grouping changes nothing", async () => {
  const shop = await openShop();
  const events = eventfulLife(new Story("O1"));
  await shop.apply(events);
  const before = await wholeOf(shop);
  const grouping = fc.array(fc.array(fc.constantFrom(...events), { minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(grouping, async (groups) => {
      for (const group of groups) {
        const result = await shop.apply(group);
        expect(result.trouble).toBeNull();
        expect(result.released).toBe(0);
        expect(result.settled.map(({ source, id, repeat }) => ({ source, id, repeat }))).toEqual(
          group.map(({ source, id }) => ({ source, id, repeat: true })),
        );
      }
      expect(await wholeOf(shop)).toEqual(before);
    }),
    { numRuns: 25 },
  );
});

test("the same events in one apply, one by one, and twice over end in the same rows", async () => {
  const grouped = await openShop();
  const single = await openShop();
  const doubled = await openShop();
  const events = hotStory({ seed: 7, lcid: "H1", events: 90 });
  await grouped.apply(events);
  for (const event of events) await single.apply([event]);
  await doubled.apply(events.flatMap((event) => [event, event]));
  const expected = await pictureOf(single, "H1");
  expect(expected.events).toHaveLength(events.length);
  expect(await pictureOf(grouped, "H1")).toEqual(expected);
  expect(await pictureOf(doubled, "H1")).toEqual(expected);
  for (const shop of [grouped, single, doubled]) await expectSound(shop);
});

test("a repeat is recognised by what it says: key order and unknown fields make no other body", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([story.placed(), story.authorized("a1", 200, IDENTITY)]);
  const data = { currency: "JPY", amount: 200, authorizationId: "a1", note: "sent again by hand" };
  const again = story.event("payment.authorized", data, { time: "2026-01-01T00:00:00Z", ...IDENTITY });
  expect(wordsOf(await shop.apply([again]))).toEqual(["again applied 2"]);
  await expectSound(shop);
});

test.each<[string, (story: Story) => EventEnvelope]>([
  ["another amount", (story) => story.authorized("a1", 201, IDENTITY)],
  ["another type", (story) => story.sold("a1", 200, IDENTITY)],
  ["another order", () => new Story("O2").authorized("a1", 200, IDENTITY)],
  ["data nobody can read", (story) => story.event("payment.authorized", { amount: 1.5 }, IDENTITY)],
  ["a type nobody knows", (story) => story.event("payment.teleported", {}, IDENTITY)],
])("the same source and id with %s is a conflict, and the first stands", async (_difference, other) => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([story.placed(), story.authorized("a1", 200, IDENTITY)]);
  const before = await pictureOf(shop, "O1");
  expect((await shop.apply([other(story)])).settled).toMatchObject([{ ...IDENTITY, outcome: "conflict" }]);
  expect(await pictureOf(shop, "O1")).toEqual(before);
  expect(wordsOf(await shop.apply([story.authorized("a1", 200, IDENTITY)]))).toEqual(["again applied 2"]);
  await expectSound(shop);
});

test("a conflict in the middle of a batch answers itself alone, also against an event of the same batch", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  const result = await shop.apply([
    story.placed(),
    story.authorized("a1", 200, IDENTITY),
    story.authorized("a2", 300, IDENTITY),
    story.authorized("a1", 200, IDENTITY),
    story.captured("c1", "a1", 10),
  ]);
  expect(result.settled.map(({ outcome }) => outcome)).toEqual([
    "applied",
    "applied",
    "conflict",
    "applied",
    "applied",
  ]);
  expect(wordsOf(result).slice(3)).toEqual(["again applied 2", "applied 3"]);
  await expectSound(shop);
});

test("two sources may use one id", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  const result = await shop.apply([
    story.placed(),
    story.authorized("a1", 10, { id: "1", source: "/one" }),
    story.authorized("a2", 20, { id: "1", source: "/two" }),
  ]);
  expect(wordsOf(result)).toEqual(["applied 1", "applied 2", "applied 3"]);
  await expectSound(shop);
});

test("the same business key under another id is a duplicate with equal data and a conflict of refs with other data", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([story.placed(), story.authorized("a1")]);
  const result = await shop.apply([
    story.captured("c1", "a1", 100),
    story.captured("c1", "a1", 100),
    story.captured("c1", "a1", 99),
    story.lineAdded("L1", 2),
  ]);
  expect(wordsOf(result)).toEqual(["applied 3", "duplicate", "rejected REF_CONFLICT", "duplicate"]);
  expect(result.settled[1]?.reason).toContain("c1");
  await expectSound(shop);
});

test("pruning the inbox does not reopen old duplicates: the business key still blocks", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  const capture = story.sold("c1");
  await shop.apply([story.placed(), capture]);
  await shop.sql("delete from order_events where event_id = $1", [capture.id]);
  expect(wordsOf(await shop.apply([capture]))).toEqual(["duplicate"]);
  expect(await shop.store.readOrder("O1")).toMatchObject({ version: 2, capturedMinor: 200 });
});

test("a body that is equal in all but its request key is answered from the inbox as well", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  const event = story.placed();
  await shop.apply([event]);
  const { body } = standing(event);
  const [result] = await shop.store.apply([{ lcid: "O1", requests: [standingText("another-key", body)] }]);
  expect(result?.settled).toMatchObject([
    { key: "another-key", outcome: "applied", version: 1, repeat: true },
  ]);
});

async function applyTwins(shop: Shop, twins: readonly EventEnvelope[]): Promise<string[][]> {
  const stores = [shop.store, shop.openStore()];
  const results = await Promise.all(
    twins.map(async (event, index) => stores[index % 2]!.apply([batchOf(event.lcid, [event])])),
  );
  return results.map(([result]) => wordsOf(result!));
}

test("one source and id under two orders at the same time: each is answered, one of them as the first", async () => {
  const shop = await openShop();
  for (let round = 0; round < 15; round += 1) {
    const identity = { id: `twin ${round}`, source: "/one" };
    const twins = ["A", "B"].map((side) => new Story(`${side}${round}`).placed({ L1: 1 }, identity));
    const words = await applyTwins(shop, twins);
    expect(words.filter(([first]) => first === "applied 1")).toHaveLength(1);
    expect(words.filter(([first]) => first?.startsWith("again conflict"))).toHaveLength(1);
  }
  expect(await shop.sql("select from order_events where outcome = 'failed'")).toEqual([]);
  await expectSound(shop);
});

test("one source and id under two orders in one apply: the others of both lanes go on", async () => {
  const shop = await openShop();
  const [first, second] = [new Story("A"), new Story("B")];
  const results = await shop.store.apply([
    batchOf("A", [first.placed(), first.sold("c1", 100, IDENTITY), first.sold("c2", 50)]),
    batchOf("B", [second.placed(), second.sold("c1", 100, IDENTITY), second.sold("c2", 50)]),
  ]);
  expect(results.map(({ trouble }) => trouble)).toEqual([null, null]);
  const outcomes = results.map(({ settled }) => settled.map(({ outcome }) => outcome).join(" "));
  expect(outcomes.toSorted()).toEqual(["applied applied applied", "applied conflict applied"]);
  await expectSound(shop);
});

test("an apply that waits on the inbox key of an open transaction is answered from it", async () => {
  const shop = await openShop({ lockTimeoutMs: 20_000, statementTimeoutMs: 20_000 });
  const other = await shop.session();
  await shop.apply([new Story("A").placed(), new Story("A").event("x", {}, { id: "x" })]);
  await other.query(
    `begin; insert into order_events (source, event_id, lcid, type, outcome, reason, arrival, body_digest, published_at, worker)
     values ('/one', 'evt-1', 'A', 'x', 'rejected', 'BY_HAND', 3, 'x', now(), 'x')`,
  );
  const story = new Story("B");
  const applying = shop.apply([story.placed(), story.sold("c1", 100, IDENTITY), story.sold("c2", 50)]);
  await shop.sql("select pg_sleep(0.2)");
  await other.query("update orders set arrivals = 3 where lcid = 'A'; commit");
  const result = await applying;
  expect(result.trouble).toBeNull();
  expect(result.settled.map(({ outcome }) => outcome)).toEqual(["applied", "conflict", "applied"]);
});
