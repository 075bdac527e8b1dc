import type { EventEnvelope } from "@junban/orders";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshDatabase } from "../support/index.ts";
import { expectSound, pictureOf } from "./picture.ts";
import { shopAt, wordsOf, wordsOnRecord, type Shop } from "./shop.ts";
import { batchOf, Story } from "./story.ts";

/** Each kind of early event: what has to be there first, the early one, and what it waits for. */
const EARLY: readonly {
  reason: string;
  first: (story: Story) => EventEnvelope[];
  early: (story: Story) => EventEnvelope;
  prerequisites: (story: Story) => EventEnvelope[];
}[] = [
  {
    reason: "ORDER_NOT_FOUND",
    first: () => [],
    early: (story) => story.sold("c1"),
    prerequisites: (story) => [story.placed()],
  },
  {
    reason: "AUTHORIZATION_NOT_SEEN",
    first: (story) => [story.placed()],
    early: (story) => story.captured("c1", "a1"),
    prerequisites: (story) => [story.authorized("a1")],
  },
  {
    reason: "CAPTURE_NOT_SEEN",
    first: (story) => [story.placed()],
    early: (story) => story.refunded("f1", "c1", 10),
    prerequisites: (story) => [story.sold("c1")],
  },
  {
    reason: "LINE_NOT_FOUND",
    first: (story) => [story.placed()],
    early: (story) => story.reserved("r1", "L2", 1),
    prerequisites: (story) => [story.lineAdded("L2")],
  },
  {
    reason: "LINE_PRECONDITION",
    first: (story) => [story.placed()],
    early: (story) => story.quantityChanged("q2", "L1", [3, 4]),
    prerequisites: (story) => [story.quantityChanged("q1", "L1", [2, 3])],
  },
  {
    reason: "WOULD_EMPTY_ORDER",
    first: (story) => [story.placed()],
    early: (story) => story.event("line.removed", { changeId: "q1", lineId: "L1", fromQuantity: 2 }),
    prerequisites: (story) => [story.lineAdded("L2")],
  },
  {
    reason: "EXCEEDS_ORDERED",
    first: (story) => [story.placed()],
    early: (story) => story.reserved("r1", "L1", 3),
    prerequisites: (story) => [story.quantityChanged("q1", "L1", [2, 3])],
  },
  {
    reason: "SHORTAGE_NOT_SEEN",
    first: (story) => [story.placed()],
    early: (story) =>
      story.event("inventory.reserved", { reservationId: "r1", lineId: "L1", quantity: 1, shortageId: "h1" }),
    prerequisites: (story) => [
      story.event("inventory.short", { shortageId: "h1", lineId: "L1", quantity: 1 }),
    ],
  },
  {
    reason: "RESERVATION_NOT_SEEN",
    first: (story) => [story.placed()],
    early: (story) => story.released("x1", "r1"),
    prerequisites: (story) => [story.reserved("r1")],
  },
  {
    reason: "NOT_RESERVED",
    first: (story) => [story.placed(), story.sold("c1")],
    early: (story) => story.shipped("s1"),
    prerequisites: (story) => [story.reserved("r1")],
  },
  {
    reason: "PAYMENT_NOT_CONFIRMED",
    first: (story) => [story.placed(), story.reserved("r1")],
    early: (story) => story.shipped("s1"),
    prerequisites: (story) => [story.sold("c1")],
  },
  {
    reason: "RELEASE_BELOW_SHIPPED",
    first: (story) => [...story.completed()],
    early: (story) => story.released("x1", "r1", 1),
    prerequisites: (story) => [story.reserved("r2", "L1", 1)],
  },
  {
    reason: "CANCEL_NOT_REQUESTED",
    first: (story) => [story.placed()],
    early: (story) => story.cancelConfirmed("x1"),
    prerequisites: (story) => [story.cancelRequested("x1")],
  },
];

const HOW: readonly [
  string,
  (events: { early: EventEnvelope; after: EventEnvelope[] }) => EventEnvelope[][],
][] = [
  ["in the same batch", ({ early, after }) => [[early, ...after]]],
  ["in the next batch", ({ early, after }) => [[early], after]],
  ["in a later one, beside other work", ({ early, after }) => [[early], [], after]],
];

/** One database for all tests of this file; each works on orders of its own. */
let shop: Shop;
let close: () => Promise<void>;
let orders = 0;

beforeAll(async () => {
  ({ shop, close } = await shopAt(await freshDatabase()));
});
afterAll(async () => close());

function nextStory(): Story {
  orders += 1;
  return new Story(`O${orders}`);
}

describe.each(EARLY)("an event that waits: $reason", ({ reason, first, early, prerequisites }) => {
  test.each(HOW)("is applied when its prerequisite comes %s", async (_when, split) => {
    const story = nextStory();
    const beginning = first(story);
    const event = early(story);
    if (beginning.length > 0) await shop.apply(beginning);
    let released = 0;
    for (const [index, batch] of split({ early: event, after: prerequisites(story) }).entries()) {
      if (batch.length === 0) await shop.apply([story.paymentFailed("capture", `noise ${index}`)]);
      else {
        const result = await shop.apply(batch);
        if (index === 0) expect(wordsOf(result)[0]).toBe(`deferred ${reason}`);
        ({ released } = result);
      }
    }
    expect(released).toBe(1);
    expect(await shop.store.readEvent(event)).toMatchObject({ outcome: "applied", deferredUntil: null });
    expect(await shop.store.readOrder(story.lcid)).toMatchObject({ held: 0, heldEvents: [] });
    expect(wordsOf(await shop.apply([event]))[0]).toMatch(/^again /u);
    await expectSound(shop);
  });
});

describe("held events among themselves", () => {
  test("a chain that waits for one event is applied whole, the earliest arrival first", async () => {
    const story = nextStory();
    const events = [
      story.shipped("s1"),
      story.refunded("f1", "c1", 1),
      story.captured("c1", "a1"),
      story.reserved("r1"),
      story.captured("c2", "a2", 1),
      story.authorized("a1"),
    ];
    for (const event of events) await shop.apply([event]);
    expect((await shop.apply([story.placed()])).released).toBe(5);
    expect(await wordsOnRecord(shop, story.lcid)).toEqual([
      "applied 5",
      "applied 6",
      "applied 4",
      "applied 2",
      "deferred AUTHORIZATION_NOT_SEEN",
      "applied 3",
      "applied 1",
    ]);
    await expectSound(shop);
  });

  test("what they wait for changes with the order, and so does the reason on record", async () => {
    const story = nextStory();
    await shop.apply([story.shipped("s1")]);
    expect(await wordsOnRecord(shop, story.lcid)).toEqual(["deferred ORDER_NOT_FOUND"]);
    await shop.apply([story.placed()]);
    expect(await wordsOnRecord(shop, story.lcid)).toEqual(["deferred NOT_RESERVED", "applied 1"]);
    await shop.apply([story.reserved("r1")]);
    expect((await wordsOnRecord(shop, story.lcid))[0]).toBe("deferred PAYMENT_NOT_CONFIRMED");
    await shop.apply([story.sold("c1")]);
    expect((await wordsOnRecord(shop, story.lcid))[0]).toBe("applied 4");
    await expectSound(shop);
  });

  test("one that turns out to be a duplicate or wrong is settled so when its turn comes", async () => {
    const story = nextStory();
    await shop.apply([
      story.placed(),
      story.captured("c1", "a1", 150),
      story.captured("c1", "a1", 150),
      story.captured("c2", "a1", 100),
    ]);
    expect((await shop.apply([story.authorized("a1")])).released).toBe(3);
    expect(await wordsOnRecord(shop, story.lcid)).toEqual([
      "applied 1",
      "applied 3",
      "duplicate",
      "rejected OVER_CAPTURE",
      "applied 2",
    ]);
    expect((await shop.store.readOrder(story.lcid))?.alerts).toMatchObject([{ reason: "OVER_CAPTURE" }]);
    await expectSound(shop);
  });

  test("a hundred may wait, the next is rejected HELD_LIMIT; when there is room again it may", async () => {
    const story = nextStory();
    const early = Array.from({ length: 103 }, (_, index) => story.captured(`c${index}`, "a1", 1));
    const words = wordsOf(await shop.apply([story.placed(), ...early])).slice(1);
    expect(words.slice(0, 100)).toEqual(early.slice(0, 100).map(() => "deferred AUTHORIZATION_NOT_SEEN"));
    expect(words.slice(100)).toEqual(["rejected HELD_LIMIT", "rejected HELD_LIMIT", "rejected HELD_LIMIT"]);
    expect(wordsOf(await shop.apply([story.refunded("f1", "c999", 1)]))).toEqual(["rejected HELD_LIMIT"]);
    // A full shelf keeps nobody out who need not wait.
    expect((await shop.apply([story.authorized("a1")])).released).toBe(100);
    expect(wordsOf(await shop.apply([story.refunded("f2", "c999", 1)]))).toEqual([
      "deferred CAPTURE_NOT_SEEN",
    ]);
    await expectSound(shop);
  });

  test("each order has its own: lanes of one transaction do not mix", async () => {
    const stories = [nextStory(), nextStory(), nextStory()];
    await shop.store.apply(
      stories.map((story) => batchOf(story.lcid, [story.placed(), story.captured("c1", "a1")])),
    );
    const results = await shop.store.apply(
      stories.map((story) => batchOf(story.lcid, [story.authorized(story === stories[1] ? "a2" : "a1")])),
    );
    expect(results.map(({ released }) => released)).toEqual([1, 0, 1]);
    expect((await pictureOf(shop, stories[1]!.lcid)).order).toMatchObject({ held: 1, version: 2 });
    await expectSound(shop);
  });
});
