import { performance } from "node:perf_hooks";
import { startProxy } from "@junban/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { expectSound } from "./picture.ts";
import { applyTo, openShop, wordsOf, type Shop } from "./shop.ts";
import { batchOf, Story } from "./story.ts";
import { raiseAt, sleepAt } from "./traps.ts";

const CLOSE_BOUND_MS = 15_000;

async function terminateAll(shop: Shop): Promise<number> {
  const rows = await shop.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like 'junban%'`,
  );
  return rows.length;
}

/** As a worker does it: the same batch again until the lane is answered. */
async function applyUntilSettled(shop: Shop, events: Parameters<Shop["apply"]>[0]): Promise<string[]> {
  return eventually(
    async () => {
      const result = await shop.apply(events);
      expect(result.trouble).toBeNull();
      return wordsOf(result);
    },
    { withinMs: 20_000 },
  );
}

describe("100 children inserted beside payments", () => {
  test("none of them waits or deadlocks, although each references the order under payment", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    await shop.apply([story.placed(), story.authorized("a1", 1_000)]);
    const writers = await Promise.all(
      Array.from({ length: 10 }, async () => shop.session({ lockTimeoutMs: 1_000 })),
    );
    let inserted = 0;
    const inserting = writers.map(async (writer, number) => {
      for (let round = 0; round < 10; round += 1) {
        await writer.query(
          `insert into order_lines (lcid, line_id, sku, added_quantity, quantity, peak, unit_amount_minor)
           values ('O1', $1, 'sku', 1, 1, 1, 1)`,
          [`child-${number}-${round}`],
        );
        inserted += 1;
      }
    });
    const paying = Array.from({ length: 4 }, async (_, number) => {
      for (let round = 0; round < 10; round += 1) {
        expect((await shop.apply([story.captured(`c${number}-${round}`, "a1", 1)])).trouble).toBeNull();
      }
    });
    await Promise.all([...inserting, ...paying]);
    expect(inserted).toBe(100);
    expect(await shop.store.readOrder("O1")).toMatchObject({ version: 42, capturedMinor: 40 });
  });
});

describe("a pool of one", () => {
  test.each(["23514", "XX000", "40001", "25P03"])(
    "a transaction that ended in %s leaves nothing to the next user of its connection",
    async (code) => {
      const shop = await openShop({ poolSize: 1 });
      await raiseAt(shop, { table: "order_refs", on: "insert", when: "new.ref = 'bad'", code });
      const bad = new Story("BAD");
      await shop.apply([bad.placed(), bad.sold("bad")]);
      const good = new Story("GOOD");
      expect(wordsOf(await shop.apply([good.placed(), good.sold("c1")]))).toEqual(["applied 1", "applied 2"]);
      expect(shop.store.poolInUse()).toBe(0);
      const nothingIsOpen = async (): Promise<void> => {
        const open = await shop.sql(
          `select state from pg_stat_activity where datname = current_database()
           and application_name like 'junban%' and state <> 'idle'`,
        );
        expect(open).toEqual([]);
      };
      // The ring for the relay goes its own way behind the commit, and may just be on it. The server ends an open transaction later.
      await eventually(nothingIsOpen, { withinMs: 2_000 });
      await expectSound(shop);
    },
  );

  test("a transaction that waited too long for its lock leaves nothing either", async () => {
    const shop = await openShop({ poolSize: 1, lockTimeoutMs: 100 });
    const [busy, good] = [new Story("BUSY"), new Story("GOOD")];
    await shop.apply([busy.placed()]);
    const holder = await shop.session();
    await holder.query("begin; select from orders for no key update");
    expect(await shop.apply([busy.sold("c1")])).toMatchObject({ settled: [], trouble: { kind: "passing" } });
    expect(wordsOf(await shop.apply([good.placed(), good.sold("c1")]))).toEqual(["applied 1", "applied 2"]);
    await holder.query("rollback");
    expect(wordsOf(await shop.apply([busy.sold("c2")]))).toEqual(["applied 2"]);
  });

  test("an operator's call that was refused leaves no row locked", async () => {
    const shop = await openShop({ lockTimeoutMs: 300 });
    const story = new Story("O1");
    const placed = story.placed();
    await shop.apply([placed]);
    for (let call = 0; call < 3; call += 1) {
      await expect(shop.store.replay(placed)).rejects.toMatchObject({ code: "WRONG_OUTCOME" });
      expect(await shop.store.releaseHalted("O1")).toBe(0);
      expect(await shop.store.redecideUnsupported("O1")).toBe(0);
      expect(await shop.store.purgeOne("O1")).toBe(false);
    }
    expect(wordsOf(await shop.apply([story.sold("c1")]))).toEqual(["applied 2"]);
    expect(
      await shop.sql(
        "select from pg_stat_activity where datname = current_database() and state like 'idle in%'",
      ),
    ).toEqual([]);
  });

  test("two of one, with fifty applies at once: everybody gets a turn", async () => {
    const shop = await openShop({ poolSize: 2, lockTimeoutMs: 20_000, statementTimeoutMs: 20_000 });
    const stories = Array.from({ length: 50 }, (_, index) => new Story(`O${index}`));
    const results = await Promise.all(
      stories.map(async (story) => shop.apply([story.placed(), story.sold("c1")])),
    );
    expect(results.map(wordsOf)).toEqual(stories.map(() => ["applied 1", "applied 2"]));
    expect(shop.store.poolInUse()).toBe(0);
    await expectSound(shop);
  });

  test("whoever waits in vain for a connection does not call the database down", async () => {
    const shop = await openShop({ poolSize: 1, statementTimeoutMs: 60_000 });
    await sleepAt(shop, { table: "outbox", on: "insert", times: 1, seconds: 50 });
    const asleep = "from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
    const slow = shop.apply([new Story("SLOW").placed()]);
    await eventually(async () => (await shop.sql(`select ${asleep}`)).length === 1);
    const waiting = ["A", "B"].map((lcid) => batchOf(lcid, [new Story(lcid).placed()]));
    const results = await Promise.all([shop.store.apply(waiting.slice(0, 1)), shop.store.apply(waiting)]);
    for (const result of results.flat()) {
      expect(result.settled).toEqual([]);
      expect(result.trouble).toMatchObject({ kind: "passing", error: { code: "POOL_BUSY", size: 1 } });
    }
    await shop.sql(`select pg_cancel_backend(pid) ${asleep}`);
    expect(await slow).toMatchObject({ settled: [], trouble: { kind: "passing", error: { code: "57014" } } });
    expect((await shop.store.apply(waiting)).map(wordsOf)).toEqual([["applied 1"], ["applied 1"]]);
  });

  test("fifty applies of one order at once are one line of events, each applied once", async () => {
    const shop = await openShop({ poolSize: 2, lockTimeoutMs: 20_000, statementTimeoutMs: 20_000 });
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    const results = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => shop.apply([story.sold(`c${index}`, 1)])),
    );
    const versions = results.flatMap(({ settled }) => settled.map(({ version }) => version ?? 0));
    expect(versions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 2));
    await expectSound(shop);
  });
});

describe("backends terminated again and again", () => {
  test("fifty times in the middle of work: the pool recovers, nothing is lost or doubled, and close() is on time", async () => {
    const shop = await openShop({ poolSize: 3 });
    const stories = Array.from({ length: 6 }, (_, index) => new Story(`O${index}`));
    const enough = new AbortController();
    let ended = 0;
    const terminating = (async () => {
      let rounds = 0;
      while (rounds < 50) {
        const count = await terminateAll(shop);
        ended += count;
        if (count > 0) rounds += 1;
      }
      return rounds;
    })();
    let events = 0;
    const working = stories.map(async (story) => {
      await applyUntilSettled(shop, [story.placed()]);
      while (!enough.signal.aborted) {
        events += 1;
        await applyUntilSettled(shop, [story.sold(`c${events}`, 1), story.captured(`d${events}`, "none", 1)]);
      }
    });
    const rounds = await terminating;
    enough.abort();
    await Promise.all(working);
    expect(rounds).toBe(50);
    expect(ended).toBeGreaterThanOrEqual(50);
    expect(shop.store.poolInUse()).toBe(0);
    await expectSound(shop);
    const startedMs = performance.now();
    await shop.store.close();
    expect(performance.now() - startedMs).toBeLessThan(CLOSE_BOUND_MS);
  });

  test("while idle: the next calls succeed, and the process does not notice", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    for (let round = 0; round < 5; round += 1) {
      await shop.store.readOrder("O1");
      expect(await terminateAll(shop)).toBeGreaterThan(0);
      const [words] = await applyUntilSettled(shop, [story.sold(`c${round}`, 1)]);
      expect(words).toBe(`applied ${round + 2}`);
      await eventually(async () => shop.store.readOrder("O1"));
    }
    await expectSound(shop);
  });
});

describe("a client that freezes", () => {
  test("in the middle of its transaction loses it: the row is free again within the idle limit", async () => {
    const shop = await openShop({ lockTimeoutMs: 20_000, statementTimeoutMs: 20_000 });
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    const proxy = await startProxy({ url: shop.url });
    onTestFinished(async () => proxy.close());
    const frozen = shop.openStore({
      databaseUrl: proxy.url,
      idleTransactionTimeoutMs: 300,
      statementTimeoutMs: 5_000,
      lockTimeoutMs: 100,
    });
    // It has locked and read; what it wants to write never leaves it.
    proxy.onData((direction, chunk) => {
      const sent = direction === "toServer" ? chunk.toString("latin1") : "";
      return /insert into "?order_events/iu.test(sent) ? "drop" : "pass";
    });
    const sale = story.sold("c1");
    const freezing = applyTo(frozen, [sale]);
    await eventually(async () => {
      const idle = await shop.sql(
        "select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'",
      );
      return idle.length === 1;
    });
    expect(wordsOf(await shop.apply([story.sold("c2")]))).toEqual(["applied 2"]);
    proxy.heal();
    proxy.onData(undefined);
    const { settled, trouble } = await freezing;
    if (trouble === null) expect(settled).toMatchObject([{ outcome: "applied", version: 3 }]);
    else expect(settled).toEqual([]);
    expect((await applyTo(frozen, [sale])).settled).toMatchObject([{ outcome: "applied", version: 3 }]);
    await expectSound(shop);
  });

  test("each session carries the limits by which the server ends it, and reads committed data", async () => {
    const shop = await openShop({
      statementTimeoutMs: 7_100,
      lockTimeoutMs: 7_200,
      idleTransactionTimeoutMs: 7_300,
    });
    await shop.sql("create table seen (name text, setting text)");
    await shop.sql(`create function note_settings() returns trigger language plpgsql as $$ begin
      insert into seen select name, setting from pg_settings where name in ('statement_timeout', 'lock_timeout',
        'idle_in_transaction_session_timeout', 'transaction_timeout', 'transaction_isolation');
      return new; end $$`);
    await shop.sql(
      "create trigger note before insert on outbox for each row execute function note_settings()",
    );
    await shop.apply([new Story("O1").placed()]);
    const seen = await shop.sql<{ name: string; setting: string }>("select * from seen");
    const settings = Object.fromEntries(seen.map(({ name, setting }) => [name, setting]));
    expect(settings).toMatchObject({
      statement_timeout: "7100",
      lock_timeout: "7200",
      idle_in_transaction_session_timeout: "7300",
      transaction_isolation: "read committed",
    });
    // Only Postgres 17 and later have it.
    expect(Number(settings["transaction_timeout"] ?? "7300")).toBeGreaterThan(7_200);
  });
});

test("close() waits for a transaction under way, twice is once, and a closed store says so instead of hanging", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  const applying = shop.apply([story.placed()]);
  await shop.store.close();
  await shop.store.close();
  await applying;
  const late = await applyTo(shop.store, [story.sold("c1")]);
  expect(late.settled).toEqual([]);
  expect(late.trouble).not.toBeNull();
  const other = shop.openStore();
  for await (const { differences } of other.audit()) expect(differences).toEqual([]);
});

test("a hot order leaves no pile of row locks behind: its row never gets a multixact from applies alone", async () => {
  const shop = await openShop();
  await shop.sql("create extension pageinspect");
  const story = new Story("O1");
  await shop.apply([story.placed({ L1: 9_000 })]);
  for (let round = 0; round < 20; round += 1) {
    await shop.apply([story.reserved(`r${round}`, "L1", 1), story.sold(`c${round}`, 1)]);
  }
  // HEAP_XMAX_IS_MULTI, on any version of the row that still lies on a page.
  const [found] = await shop.sql(
    `select count(*)::int as versions, (count(*) filter (where t_infomask & 4096 > 0))::int as multixacts
     from generate_series(0, pg_relation_size('orders') / 8192 - 1) as page,
       heap_page_items(get_raw_page('orders', page::int)) where t_infomask is not null`,
  );
  expect(found!["versions"]).toBeGreaterThan(0);
  expect(found!["multixacts"]).toBe(0);
  await expectSound(shop);
});
