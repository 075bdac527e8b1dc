import { performance } from "node:perf_hooks";
import { decide } from "@junban/orders";
import { describe, expect, test } from "vitest";
import { expectSound, wholeOf } from "./picture.ts";
import { openShop, wordsOf, wordsOnRecord } from "./shop.ts";
import { batchOf, standingText, Story } from "./story.ts";
import { closedGate } from "./traps.ts";

describe("an event that killed one holder after another", () => {
  test("is settled failed CRASH_LOOP without being decided; the order is halted, the rest of the batch blocked", async () => {
    const decided: string[] = [];
    const shop = await openShop({
      decide: (view, event) => {
        decided.push(event.type);
        return decide(view, event);
      },
    });
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    decided.length = 0;
    const killer = story.sold("c1");
    const result = await shop.apply([killer, story.reserved("r1")], { giveUpHead: true });
    expect(wordsOf(result)).toEqual(["failed CRASH_LOOP", "deferred BLOCKED"]);
    expect(decided).toEqual([]);
    expect(await shop.store.readOrder("O1")).toMatchObject({ halted: true, version: 1 });
    await expectSound(shop);
    // Once it is known to be harmless it can be replayed like any other.
    expect(await shop.store.replay(killer)).toMatchObject({ outcome: "applied", released: 1, halted: false });
    await expectSound(shop);
  });

  test("given up although it was committed before the last holder died: the earlier answer stands", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const event = story.sold("c1");
    await shop.apply([story.placed(), event]);
    const result = await shop.apply([event, story.reserved("r1")], { giveUpHead: true });
    expect(wordsOf(result)).toEqual(["again applied 2", "applied 3"]);
    await expectSound(shop);
  });

  test("giving up the head twice is the same as once", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const killer = story.placed();
    expect(wordsOf(await shop.apply([killer], { giveUpHead: true }))).toEqual(["failed CRASH_LOOP"]);
    const before = await wholeOf(shop);
    expect(wordsOf(await shop.apply([killer], { giveUpHead: true }))).toEqual(["again failed CRASH_LOOP"]);
    expect(await wholeOf(shop)).toEqual(before);
  });

  test("one lane's head is given up, its neighbours in the group are not", async () => {
    const shop = await openShop();
    const stories = ["A", "B", "C"].map((lcid) => new Story(lcid));
    const results = await shop.store.apply(
      stories.map((story) =>
        batchOf(story.lcid, [story.placed(), story.sold("c1")], { giveUpHead: story.lcid === "B" }),
      ),
    );
    expect(results.map(wordsOf)).toEqual([
      ["applied 1", "applied 2"],
      ["failed CRASH_LOOP", "deferred BLOCKED"],
      ["applied 1", "applied 2"],
    ]);
    await expectSound(shop);
  });

  test("with poison=skip the order goes on without it", async () => {
    const shop = await openShop({ poison: "skip" });
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    const result = await shop.apply([story.sold("c1"), story.reserved("r1")], { giveUpHead: true });
    expect(wordsOf(result)).toEqual(["failed CRASH_LOOP", "applied 2"]);
    await expectSound(shop, { poison: "skip" });
  });

  test("a head that nobody can read is given up as well", async () => {
    const shop = await openShop();
    const [result] = await shop.store.apply([
      { lcid: "O1", requests: [standingText("key", "no JSON")], giveUpHead: true },
    ]);
    expect(result).toMatchObject({ trouble: null, settled: [{ key: "key" }] });
    expect(["failed", "rejected"]).toContain(result?.settled[0]?.outcome);
    await expectSound(shop);
  });
});

describe("a lease that ran out", () => {
  test("before COMMIT: trouble deadline, nothing written, and the repeat works", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    const batch = [story.placed(), story.sold("c1")];
    const before = await wholeOf(shop);
    const result = await shop.apply(batch, { deadlineMs: performance.now() - 1 });
    expect(result).toMatchObject({
      settled: [],
      trouble: { kind: "deadline", error: { code: "DEADLINE_PASSED", lcid: "O1" } },
    });
    expect(await wholeOf(shop)).toEqual(before);
    expect(wordsOf(await shop.apply(batch, { deadlineMs: performance.now() + 60_000 }))).toEqual([
      "applied 1",
      "applied 2",
    ]);
    await expectSound(shop);
  });

  test("of one lane in a group: that lane is left, the others are committed", async () => {
    const shop = await openShop();
    const stories = ["A", "B", "C"].map((lcid) => new Story(lcid));
    const [a, b, c] = await shop.store.apply(
      stories.map((story) =>
        batchOf(story.lcid, [story.placed()], {
          deadlineMs: performance.now() + (story.lcid === "B" ? -1 : 60_000),
        }),
      ),
    );
    expect([a, c].map((result) => wordsOf(result!))).toEqual([["applied 1"], ["applied 1"]]);
    expect(b).toMatchObject({ settled: [], trouble: { kind: "deadline" } });
    expect(await shop.store.readOrder("B")).toBeNull();
    await expectSound(shop);
  });

  test("while the transaction waited for a busy row: nothing is written either", async () => {
    const shop = await openShop({
      lockTimeoutMs: 20_000,
      statementTimeoutMs: 20_000,
      idleTransactionTimeoutMs: 20_000,
    });
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    const gate = await closedGate(shop, { table: "outbox", on: "insert", times: 1 });
    const first = shop.apply([story.sold("c1")]);
    await gate.occupied();
    const deadlineMs = performance.now() + 300;
    const second = shop.apply([story.sold("c2")], { deadlineMs });
    await expect.poll(() => performance.now() > deadlineMs).toBe(true);
    await gate.open();
    expect(wordsOf(await first)).toEqual(["applied 2"]);
    expect(await second).toMatchObject({ settled: [], trouble: { kind: "deadline" } });
    expect(await wordsOnRecord(shop, "O1")).toEqual(["applied 1", "applied 2"]);
    await expectSound(shop);
  });
});
