import type { CommitFacts, LaneResult } from "@junban/order-store";
import { describe, expect, test } from "vitest";
import { expectSound } from "./picture.ts";
import { openShop, wordsOf, type Shop } from "./shop.ts";
import { batchOf, Story } from "./story.ts";
import { closedGate, raiseAt } from "./traps.ts";

const PATIENT = { lockTimeoutMs: 20_000, statementTimeoutMs: 20_000, idleTransactionTimeoutMs: 20_000 };

function lcidsOf(count: number, prefix = "G"): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(2, "0")}`);
}

function wordsByLane(results: readonly LaneResult[]): Record<string, string[]> {
  return Object.fromEntries(results.map((result) => [result.lcid, wordsOf(result)]));
}

test("32 lanes share one transaction of two round trips, whether their orders are new or known", async () => {
  const commits: CommitFacts[] = [];
  const shop = await openShop({ onCommit: (facts) => commits.push(facts) });
  const stories = lcidsOf(32).map((lcid) => new Story(lcid));
  const first = await shop.store.apply(stories.map((story) => batchOf(story.lcid, [story.placed()])));
  expect(first.map(wordsOf)).toEqual(stories.map(() => ["applied 1"]));
  const second = await shop.store.apply(
    stories.map((story) => batchOf(story.lcid, [story.authorized("a1"), story.captured("c1", "a1")])),
  );
  expect(second.map(wordsOf)).toEqual(stories.map(() => ["applied 2", "applied 3"]));
  expect(commits).toEqual([
    { lanes: 32, events: 32, roundTrips: expect.any(Number) as number },
    { lanes: 32, events: 64, roundTrips: expect.any(Number) as number },
  ]);
  for (const { roundTrips } of commits) expect(roundTrips).toBeLessThanOrEqual(3);
  await expectSound(shop);
});

test("results come one for each batch, in the order of the batches", async () => {
  const shop = await openShop();
  const lcids = lcidsOf(9).toReversed();
  const results = await shop.store.apply(lcids.map((lcid) => batchOf(lcid, [new Story(lcid).placed()])));
  expect(results.map(({ lcid }) => lcid)).toEqual(lcids);
  expect(await shop.store.apply([])).toEqual([]);
});

test("round trips do not grow with the batch nor with the order's past", async () => {
  const commits: CommitFacts[] = [];
  const shop = await openShop({ onCommit: (facts) => commits.push(facts) });
  const story = new Story("O1");
  await shop.apply([story.placed({ L1: 9_000 })]);
  for (const count of [1, 128, 1]) {
    await shop.apply(Array.from({ length: count }, () => story.reserved(story.event("", {}).id, "L1", 1)));
  }
  expect(commits.map(({ events }) => events)).toEqual([1, 1, 128, 1]);
  expect(new Set(commits.slice(1).map(({ roundTrips }) => roundTrips)).size).toBe(1);
  await expectSound(shop);
});

describe("a row that another session holds", () => {
  async function withBusyRow(lockTimeoutMs: number): Promise<{ shop: Shop; release: () => Promise<void> }> {
    const shop = await openShop({ ...PATIENT, lockTimeoutMs });
    const lcids = lcidsOf(8);
    await shop.store.apply(lcids.map((lcid) => batchOf(lcid, [new Story(lcid).placed()])));
    const holder = await shop.session();
    await holder.query("begin; select from orders where lcid = 'G03' for no key update");
    return {
      shop,
      release: async () => {
        await holder.query("rollback");
      },
    };
  }

  function salesOf(count: number): ReturnType<typeof batchOf>[] {
    return lcidsOf(count).map((lcid) =>
      batchOf(lcid, [new Story(lcid).sold("c1", 200, { id: `sale ${lcid}` })]),
    );
  }

  test("does not hold up the other lanes, and is reported passing after lock_timeout", async () => {
    const { shop, release } = await withBusyRow(150);
    const words = wordsByLane(await shop.store.apply(salesOf(8)));
    const { G03, ...others } = words;
    expect(Object.values(others)).toEqual(lcidsOf(7).map(() => ["applied 2"]));
    expect(G03).toHaveLength(1);
    expect(G03![0]).toMatch(/^then passing trouble/u);
    await release();
    expect(wordsByLane(await shop.store.apply(salesOf(8)))).toMatchObject({
      G03: ["applied 2"],
      G04: ["again applied 2"],
    });
    await expectSound(shop);
  });

  test("does not hold up the others either when it is written already and its placement comes again", async () => {
    const shop = await openShop(PATIENT);
    const stories = lcidsOf(4).map((lcid) => new Story(lcid));
    const placements = stories.map((story) => story.placed());
    await shop.store.apply(placements.slice(0, 3).map((event) => batchOf(event.lcid, [event])));
    const gate = await closedGate(shop, { table: "outbox", on: "commit of insert", times: 1 });
    const writing = shop.store.apply([batchOf("G01", [stories[1]!.sold("c1")])]);
    await gate.occupied();
    const applying = shop.store.apply(
      placements.map((event, index) => batchOf(event.lcid, [event, stories[index]!.sold("c2", 5)])),
    );
    // Three of the four are committed while the busy one still waits.
    await expect
      .poll(async () => (await shop.sql("select from order_events where type = 'payment.captured'")).length)
      .toBe(3);
    await gate.open();
    expect(wordsOf((await writing)[0]!)).toEqual(["applied 2"]);
    expect(wordsByLane(await applying)).toEqual({
      G00: ["again applied 1", "applied 2"],
      G01: ["again applied 1", "applied 3"],
      G02: ["again applied 1", "applied 2"],
      G03: ["applied 1", "applied 2"],
    });
    await expectSound(shop);
  });

  test("is waited for alone, after the others are committed", async () => {
    const { shop, release } = await withBusyRow(20_000);
    const applying = shop.store.apply(salesOf(8));
    // The others are there while the busy one still waits.
    await expect.poll(async () => (await shop.sql("select from orders where version = 2")).length).toBe(7);
    await release();
    expect((await applying).map(wordsOf)).toEqual(lcidsOf(8).map(() => ["applied 2"]));
    await expectSound(shop);
  });

  test("a new order that another transaction is just creating does not hold up the others either", async () => {
    const shop = await openShop({ ...PATIENT, lockTimeoutMs: 150 });
    const other = await shop.session();
    await other.query("begin; insert into orders (lcid) values ('G03')");
    const placed = lcidsOf(8).map((lcid) => batchOf(lcid, [new Story(lcid).placed()]));
    const { G03, ...rest } = wordsByLane(await shop.store.apply(placed));
    expect(Object.values(rest)).toEqual(lcidsOf(7).map(() => ["applied 1"]));
    expect(G03![0]).toMatch(/^then passing trouble/u);
    await other.query("rollback");
    expect(wordsByLane(await shop.store.apply(placed))).toMatchObject({ G03: ["applied 1"] });
    await expectSound(shop);
  });
});

describe("crossing sets of orders", () => {
  test.each([
    ["known orders", false],
    ["orders that none of them has seen", true],
  ])("never deadlock: %s", async (_kind, fresh) => {
    const shop = await openShop({ poolSize: 6 });
    const stores = [shop.store, shop.openStore({ poolSize: 6 })];
    const stories = new Map<string, Story>();
    for (let round = 0; round < 12; round += 1) {
      const lcids = lcidsOf(10, fresh ? `R${round}-` : "G");
      for (const lcid of lcids) if (!stories.has(lcid)) stories.set(lcid, new Story(lcid));
      await Promise.all(
        Array.from({ length: 8 }, async (_, caller) => {
          const own = lcids.filter((_lcid, index) => (index * 7 + caller * 3 + round) % 3 !== 0);
          const ordered = caller % 2 === 0 ? own : own.toReversed();
          const batches = ordered.map((lcid) => {
            const story = stories.get(lcid)!;
            return batchOf(lcid, [story.paymentFailed("capture", `${caller}`), story.placed()]);
          });
          const results = await stores[caller % 2]!.apply(batches);
          for (const { trouble } of results) if (trouble !== null) expect(trouble.kind).toBe("passing");
        }),
      );
    }
    for (const store of stores) await store.close();
    const [database] = await shop.sql<{ deadlocks: number }>(
      "select deadlocks::int from pg_stat_database where datname = current_database()",
    );
    expect(database).toEqual({ deadlocks: 0 });
    const checker = shop.openStore();
    for await (const { differences } of checker.audit()) expect(differences).toEqual([]);
  });
});

describe("an event that its own lane cannot digest", () => {
  test.each(["22003", "23514", "54001"])(
    "SQLSTATE %s fails that event alone: its prefix and the other lanes stand",
    async (code) => {
      const shop = await openShop();
      await raiseAt(shop, { table: "order_events", on: "insert", when: "new.event_id = 'culprit'", code });
      const stories = lcidsOf(4).map((lcid) => new Story(lcid));
      const batches = stories.map((story) =>
        batchOf(story.lcid, [
          story.placed(),
          story.sold("c1", 50, story.lcid === "G02" ? { id: "culprit" } : {}),
          story.sold("c2", 70),
        ]),
      );
      const words = wordsByLane(await shop.store.apply(batches));
      const fine = ["applied 1", "applied 2", "applied 3"];
      expect(words).toMatchObject({ G00: fine, G01: fine, G03: fine });
      // It cannot even be recorded as failed while the trap stands on its row: the prefix is kept and the trouble named.
      expect(words["G02"]?.[0]).toBe("applied 1");
      await expectSound(shop);
    },
  );

  test.each(["22003", "23514", "54001"])(
    "SQLSTATE %s from what it writes: settled failed, the order halted",
    async (code) => {
      const shop = await openShop();
      await raiseAt(shop, { table: "order_refs", on: "insert", when: "new.ref = 'culprit'", code });
      const stories = lcidsOf(4).map((lcid) => new Story(lcid));
      const batches = stories.map((story) =>
        batchOf(story.lcid, [
          story.placed(),
          story.sold(story.lcid === "G02" ? "culprit" : "c1", 50),
          story.sold("c2", 70),
        ]),
      );
      const words = wordsByLane(await shop.store.apply(batches));
      const fine = ["applied 1", "applied 2", "applied 3"];
      expect(words).toMatchObject({ G00: fine, G01: fine, G03: fine });
      expect(words["G02"]).toEqual(["applied 1", expect.stringMatching(/^failed /u), "deferred BLOCKED"]);
      expect(await shop.store.readOrder("G02")).toMatchObject({ halted: true, version: 1, held: 1 });
      expect(await shop.store.listDead({ outcome: "failed", limit: 10 })).toMatchObject([{ lcid: "G02" }]);
      await expectSound(shop);
    },
  );
});

test("a group under a gate keeps every row it will write locked until its one commit", async () => {
  const shop = await openShop(PATIENT);
  const stories = lcidsOf(5).map((lcid) => new Story(lcid));
  await shop.store.apply(stories.map((story) => batchOf(story.lcid, [story.placed()])));
  const gate = await closedGate(shop, { table: "outbox", on: "commit of insert", when: "new.lcid = 'G04'" });
  const applying = shop.store.apply(stories.map((story) => batchOf(story.lcid, [story.sold("c1")])));
  await gate.occupied();
  const onlooker = await shop.session({ lockTimeoutMs: 150 });
  const free = await onlooker.query("select lcid from orders for no key update skip locked");
  expect(free.rows).toEqual([]);
  await gate.open();
  expect((await applying).map(wordsOf)).toEqual(stories.map(() => ["applied 2"]));
});
