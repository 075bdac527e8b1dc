import { OrderStoreError, type OrderStore } from "@junban/order-store";
import { startProxy, type TcpProxy } from "@junban/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { expectSound, pictureOf, wholeOf } from "./picture.ts";
import { applyTo, openShop, wordsOf, type Shop } from "./shop.ts";
import { batchOf, Story } from "./story.ts";

interface CutShop {
  readonly shop: Shop;
  readonly proxy: TcpProxy;
  /** Reaches the same database as `shop`, through the proxy. */
  readonly store: OrderStore;
}

async function openBehindProxy({ lockTimeoutMs = 10_000 } = {}): Promise<CutShop> {
  const shop = await openShop();
  const proxy = await startProxy({ url: shop.url });
  onTestFinished(async () => proxy.close());
  const store = shop.openStore({
    databaseUrl: proxy.url,
    statementTimeoutMs: 700,
    lockTimeoutMs,
    idleTransactionTimeoutMs: 700,
  });
  return { shop, proxy, store };
}

/** The word as the extended protocol carries it: in a Parse message, up to its closing zero, in whatever case. */
function mentionsCommit(chunk: Buffer): boolean {
  return chunk.toString("latin1").toLowerCase().includes("commit\0");
}

describe("COMMIT and its reply can be lost", () => {
  test("the connection is cut before COMMIT arrives: nothing was kept, and the repeat applies", async () => {
    const { shop, proxy, store } = await openBehindProxy();
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    const before = await wholeOf(shop);
    let cuts = 0;
    proxy.onData((direction, chunk) => {
      if (direction !== "toServer" || !mentionsCommit(chunk)) return "pass";
      cuts += 1;
      return "cut";
    });
    const batch = [story.authorized("a1"), story.captured("c1", "a1")];
    const result = await applyTo(store, batch);
    expect(cuts).toBeGreaterThan(0);
    expect(result).toMatchObject({ settled: [], trouble: { kind: "down" } });
    expect(await wholeOf(shop)).toEqual(before);
    proxy.onData(undefined);
    expect(wordsOf(await applyTo(store, batch))).toEqual(["applied 2", "applied 3"]);
    await expectSound(shop);
  });

  test("COMMIT is done and its reply is lost once: the repeat is answered from the inbox and changes nothing", async () => {
    const { shop, proxy, store } = await openBehindProxy();
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    let cuts = 0;
    proxy.onData((direction, chunk) => {
      if (direction !== "toClient" || cuts > 0 || !mentionsCommit(chunk)) return "pass";
      cuts += 1;
      return "cut";
    });
    const batch = [story.authorized("a1"), story.captured("c1", "a1")];
    const result = await applyTo(store, batch);
    expect(cuts).toBe(1);
    const settled = result.trouble === null ? result : await applyTo(store, batch);
    expect(wordsOf(settled)).toEqual(["again applied 2", "again applied 3"]);
    expect((await pictureOf(shop, "O1")).outbox).toHaveLength(3);
    await expectSound(shop);
  });

  test("the reply to COMMIT is lost each time: the store's own repeat finds the work done and says so", async () => {
    const { shop, proxy, store } = await openBehindProxy();
    const story = new Story("O1");
    let cuts = 0;
    proxy.onData((direction, chunk) => {
      if (direction !== "toClient" || !mentionsCommit(chunk)) return "pass";
      cuts += 1;
      return "cut";
    });
    const batch = [story.placed(), story.sold("c1")];
    const result = await applyTo(store, batch);
    expect(cuts).toBe(1);
    // Nothing was left to commit, so no reply could be lost any more.
    expect(wordsOf(result)).toEqual(["again applied 1", "again applied 2"]);
    await expectSound(shop);
  });

  test("the reply to COMMIT and all that follows is swallowed: bounded, typed, and the inbox answers later", async () => {
    const { shop, proxy, store } = await openBehindProxy({ lockTimeoutMs: 400 });
    const story = new Story("O1");
    proxy.onData((direction, chunk) => {
      if (direction === "toClient" && mentionsCommit(chunk)) proxy.drop("toClient");
      return "pass";
    });
    const batch = [story.placed(), story.sold("c1")];
    const result = await applyTo(store, batch);
    expect(result.settled).toEqual([]);
    expect(result.trouble?.error).toBeInstanceOf(OrderStoreError);
    expect(await shop.sql("select version from orders")).toEqual([{ version: 2 }]);
    proxy.onData(undefined);
    proxy.heal();
    expect(wordsOf(await applyTo(store, batch))).toEqual(["again applied 1", "again applied 2"]);
    await expectSound(shop);
  });

  test("a row that goes missing on its way is a failure, although no statement failed", async () => {
    const shop = await openShop();
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    await shop.sql(
      `create function swallow() returns trigger language plpgsql as $$ begin return null; end $$`,
    );
    await shop.sql("create trigger swallow before insert on outbox for each row execute function swallow()");
    const before = await wholeOf(shop);
    const batch = [story.sold("c1")];
    // Nobody foresaw it, so nothing is settled.
    expect(await shop.apply(batch)).toMatchObject({ settled: [], trouble: { kind: "unknown" } });
    expect(await wholeOf(shop)).toEqual(before);
    await shop.sql("drop trigger swallow on outbox");
    expect(wordsOf(await shop.apply(batch))).toEqual(["applied 2"]);
  });

  test("several lanes of one transaction lose its reply: each is answered from the inbox", async () => {
    const { shop, proxy, store } = await openBehindProxy();
    let cuts = 0;
    proxy.onData((direction, chunk) => {
      if (direction !== "toClient" || cuts > 0 || !mentionsCommit(chunk)) return "pass";
      cuts += 1;
      return "cut";
    });
    const stories = ["O1", "O2", "O3"].map((lcid) => new Story(lcid));
    const batches = stories.map((story) => batchOf(story.lcid, [story.placed(), story.sold("c1")]));
    const results = await store.apply(batches);
    expect(cuts).toBe(1);
    for (const result of results) expect(wordsOf(result)).toEqual(["again applied 1", "again applied 2"]);
    await expectSound(shop);
    expect(await shop.sql("select lcid, version from orders order by lcid")).toEqual([
      { lcid: "O1", version: 2 },
      { lcid: "O2", version: 2 },
      { lcid: "O3", version: 2 },
    ]);
  });
});
