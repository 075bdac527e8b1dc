import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshDatabase } from "../support/index.ts";
import { expectSound, wholeOf } from "./picture.ts";
import { openShop, shopAt, wordsOf, type Shop } from "./shop.ts";
import { batchOf, Story } from "./story.ts";
import { raiseAt, sleepAt, terminateAt, type TrapSite } from "./traps.ts";

const PASSING = ["40001", "40P01", "55P03", "57014", "08006", "53200", "53300"];
/** These end the session, so raising them as a plain error is not the whole of it; see the terminated sessions below. */
const PASSING_AS_FATAL = ["25P03", "25P04", "57P01", "57P02", "57P03", "57P05"];
const UNKNOWN = ["XX000", "P0001", "42501", "42P01", "0A000", "ZZ999", "25006"];

/** One database for all tests of this file; each works on orders of its own. */
let sharedShop: Shop;
let close: () => Promise<void>;
let orders = 0;

beforeAll(async () => {
  ({ shop: sharedShop, close } = await shopAt(await freshDatabase()));
});
afterAll(async () => close());

function nextStory(): Story {
  orders += 1;
  return new Story(`O${orders}`);
}

function atOutboxOf({ lcid }: Story): TrapSite {
  return { table: "outbox", on: "insert", when: `new.lcid = '${lcid}'` };
}

describe("an error known to be passing", () => {
  test.each([...PASSING, ...PASSING_AS_FATAL])("%s once: is retried, and nobody notices", async (code) => {
    const story = nextStory();
    const trap = await raiseAt(sharedShop, { ...atOutboxOf(story), times: 1, code });
    expect(wordsOf(await sharedShop.apply([story.placed(), story.sold("c1")]))).toEqual([
      "applied 1",
      "applied 2",
    ]);
    expect(await trap.steps()).toBeGreaterThan(1);
    await expectSound(sharedShop);
  });

  test.each([...PASSING, ...PASSING_AS_FATAL])(
    "%s for ever: surfaces as passing with its last error, bounded, and nothing is lost",
    async (code) => {
      const story = nextStory();
      const trap = await raiseAt(sharedShop, { ...atOutboxOf(story), code });
      const batch = [story.placed(), story.sold("c1"), story.sold("c2")];
      const before = await wholeOf(sharedShop);
      const result = await sharedShop.apply(batch);
      expect(result.settled).toEqual([]);
      expect(["passing", "down"]).toContain(result.trouble?.kind);
      expect(result.trouble?.error).toMatchObject({ code });
      // Tried again, but not for long.
      expect(await trap.steps()).toBeGreaterThan(1);
      expect(await trap.steps()).toBeLessThan(100);
      expect(await wholeOf(sharedShop)).toEqual(before);
      await trap.disarm();
      expect(wordsOf(await sharedShop.apply(batch))).toEqual(["applied 1", "applied 2", "applied 3"]);
      await expectSound(sharedShop);
    },
  );

  test("is never taken for poison, however often it comes", async () => {
    const story = nextStory();
    await raiseAt(sharedShop, { ...atOutboxOf(story), times: 25, code: "40P01" });
    const batch = [story.placed()];
    for (let attempt = 0; attempt < 30; attempt += 1) {
      const { trouble } = await sharedShop.apply(batch);
      if (trouble === null) break;
    }
    expect(wordsOf(await sharedShop.apply(batch))).toEqual(["again applied 1"]);
    expect(await sharedShop.sql("select from order_events where outcome = 'failed'")).toEqual([]);
  });

  test("in one lane of several: the others are settled, and only that lane is in trouble", async () => {
    const stories = [nextStory(), nextStory(), nextStory()];
    await raiseAt(sharedShop, { ...atOutboxOf(stories[1]!), code: "40001" });
    const batches = stories.map((story) => batchOf(story.lcid, [story.placed()]));
    const [a, b, c] = await sharedShop.store.apply(batches);
    expect([a, c].map((result) => wordsOf(result!))).toEqual([["applied 1"], ["applied 1"]]);
    expect(b).toMatchObject({ settled: [], trouble: { kind: "passing", error: { code: "40001" } } });
    await expectSound(sharedShop);
  });
});

describe("57014: too much at once", () => {
  test("a batch that is too long for one statement is halved until it fits, and all of it is settled", async () => {
    const shop = await openShop();
    await shop.sql(`create function too_many() returns trigger language plpgsql as $$ begin
      if (select count(*) from added) > 3 then raise exception 'too long' using errcode = '57014'; end if;
      return null; end $$`);
    await shop.sql(`create trigger too_many after insert on order_events referencing new table as added
      for each statement execute function too_many()`);
    const story = new Story("O1");
    const batch = [
      story.placed({ L1: 9_000 }),
      ...Array.from({ length: 18 }, (_, n) => story.reserved(`r${n}`, "L1", 1)),
    ];
    const result = await shop.apply(batch);
    expect(result.trouble).toBeNull();
    expect(wordsOf(result)).toEqual(batch.map((_event, index) => `applied ${index + 1}`));
    await expectSound(shop);
  });

  test("the server's own statement_timeout does the same", async () => {
    const shop = await openShop({ statementTimeoutMs: 400 });
    await sleepAt(shop, { table: "order_events", on: "insert", seconds: 0.07 });
    const story = new Story("O1");
    const batch = [
      story.placed({ L1: 9_000 }),
      ...Array.from({ length: 11 }, (_, n) => story.reserved(`r${n}`, "L1", 1)),
    ];
    let settled = 0;
    // On a busy machine a part may be reported for later; what was settled stays a prefix, and the rest goes on from there.
    for (let attempt = 0; attempt < 20 && settled < batch.length; attempt += 1) {
      settled += (await shop.apply(batch.slice(settled))).settled.length;
    }
    expect(settled).toBe(batch.length);
    expect(await shop.store.readOrder("O1")).toMatchObject({ version: batch.length });
    await expectSound(shop);
  });

  test("a single event that never fits is reported passing, its prefix stands, and it is no poison", async () => {
    const shop = await openShop();
    const trap = await raiseAt(shop, {
      table: "order_refs",
      on: "insert",
      when: "new.ref = 'slow'",
      code: "57014",
    });
    const story = new Story("O1");
    const batch = [story.placed(), story.sold("c1", 10), story.sold("slow", 10), story.sold("c2", 10)];
    const result = await shop.apply(batch);
    expect(result).toMatchObject({ trouble: { kind: "passing", error: { code: "57014" } } });
    expect(result.settled.map(({ outcome }) => outcome)).toEqual(["applied", "applied"]);
    expect(await shop.store.readOrder("O1")).toMatchObject({ halted: false, version: 2 });
    await trap.disarm();
    expect(wordsOf(await shop.apply(batch)).slice(2)).toEqual(["applied 3", "applied 4"]);
    await expectSound(shop);
  });

  test("a group that is too long is halved or split without losing a lane", async () => {
    const shop = await openShop();
    await shop.sql(`create function too_many() returns trigger language plpgsql as $$ begin
      if (select count(*) from added) > 5 then raise exception 'too long' using errcode = '57014'; end if;
      return null; end $$`);
    await shop.sql(`create trigger too_many after insert on order_events referencing new table as added
      for each statement execute function too_many()`);
    const batches = ["A", "B", "C", "D"].map((lcid) => {
      const story = new Story(lcid);
      return batchOf(lcid, [story.placed(), ...Array.from({ length: 7 }, (_, n) => story.sold(`c${n}`, 1))]);
    });
    const results = await shop.store.apply(batches);
    for (const result of results) {
      expect(wordsOf(result)).toEqual(Array.from({ length: 8 }, (_, index) => `applied ${index + 1}`));
    }
    await expectSound(shop);
  });
});

describe("an error that nobody foresaw", () => {
  test.each(UNKNOWN)("%s: surfaces at once as unknown, and nothing is settled", async (code) => {
    const story = nextStory();
    await sharedShop.apply([story.placed()]);
    const when = `new.ref = 'odd' and new.lcid = '${story.lcid}'`;
    const trap = await raiseAt(sharedShop, { table: "order_refs", on: "insert", when, code });
    const before = await wholeOf(sharedShop);
    const batch = [story.sold("c1"), story.sold("odd"), story.sold("c2")];
    const result = await sharedShop.apply(batch);
    expect(result).toMatchObject({ settled: [], trouble: { kind: "unknown", error: { code } } });
    expect(await trap.steps()).toBe(1);
    expect(await wholeOf(sharedShop)).toEqual(before);
    await trap.disarm();
    expect(wordsOf(await sharedShop.apply(batch))).toEqual(["applied 2", "applied 3", "applied 4"]);
    await expectSound(sharedShop);
  });

  test("in one lane of several: the others are settled", async () => {
    const shop = await openShop();
    await raiseAt(shop, { table: "outbox", on: "insert", when: "new.lcid = 'B'", code: "XX000" });
    const batches = ["A", "B", "C"].map((lcid) => batchOf(lcid, [new Story(lcid).placed()]));
    const [a, b, c] = await shop.store.apply(batches);
    expect([a, c].map((result) => wordsOf(result!))).toEqual([["applied 1"], ["applied 1"]]);
    expect(b).toMatchObject({ settled: [], trouble: { kind: "unknown", error: { code: "XX000" } } });
  });

  test("23505 anywhere but on the inbox key is content, not a repeat", async () => {
    const shop = await openShop();
    await raiseAt(shop, {
      table: "order_refs",
      on: "insert",
      when: "new.ref = 'odd'",
      code: "23505",
      constraint: "order_refs_pkey",
    });
    const story = new Story("O1");
    expect(wordsOf(await shop.apply([story.placed(), story.sold("odd"), story.sold("c2")]))).toEqual([
      "applied 1",
      expect.stringMatching(/^failed /u),
      "deferred BLOCKED",
    ]);
    await expectSound(shop);
  });

  test("23505 on the inbox key for ever, although no such row can be read, is bounded and no poison", async () => {
    const shop = await openShop();
    const trap = await raiseAt(shop, {
      table: "order_events",
      on: "insert",
      when: "new.event_id = 'phantom'",
      code: "23505",
      constraint: "order_events_pkey",
    });
    const story = new Story("O1");
    const batch = [story.placed(), story.sold("c1", 10, { id: "phantom" }), story.sold("c2", 10)];
    const result = await shop.apply(batch);
    expect(result.trouble?.kind).toBe("passing");
    expect(result.settled.map(({ outcome }) => outcome)).not.toContain("failed");
    expect(await trap.steps()).toBeLessThan(100);
    expect(await shop.sql("select from order_events where outcome = 'failed'")).toEqual([]);
    await trap.disarm();
    expect((await shop.apply(batch)).trouble).toBeNull();
    await expectSound(shop);
  });
});

describe("a session that the server ends", () => {
  test("once: is retried on another one", async () => {
    const shop = await openShop({ poolSize: 1 });
    await terminateAt(shop, { table: "outbox", on: "insert", times: 1 });
    const story = new Story("O1");
    expect(wordsOf(await shop.apply([story.placed(), story.sold("c1")]))).toEqual(["applied 1", "applied 2"]);
    await expectSound(shop);
  });

  test("each time: surfaces, bounded, typed; the pool is not used up", async () => {
    const shop = await openShop({ poolSize: 1 });
    const trap = await terminateAt(shop, { table: "outbox", on: "insert" });
    const story = new Story("O1");
    const batch = [story.placed()];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const result = await shop.apply(batch);
      expect(result.settled).toEqual([]);
      expect(["passing", "down"]).toContain(result.trouble?.kind);
      expect(shop.store.poolInUse()).toBe(0);
    }
    await trap.disarm();
    expect(wordsOf(await shop.apply(batch))).toEqual(["applied 1"]);
  });
});
