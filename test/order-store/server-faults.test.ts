import { performance } from "node:perf_hooks";
import { migrate, OrderStoreError, type OrderStore } from "@junban/order-store";
import { startPostgres, startProxy, type PostgresServer, type TcpProxy } from "@junban/sandbox";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { expectSound } from "./picture.ts";
import { applyTo, shopAt, wordsOf, type Shop, type StoreOptions } from "./shop.ts";
import { batchOf, Story } from "./story.ts";

/** These tests hurt the whole server, so it is their own. */
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres({ fast: true });
});
afterAll(async () => server.stop());

const SHORT: StoreOptions = { statementTimeoutMs: 500, lockTimeoutMs: 300, idleTransactionTimeoutMs: 500 };
/** No call may take longer than this, whatever happens to the server. Its own limits are far below; this is for busy machines. */
const BOUND_MS = 20_000;

async function openHere(options: StoreOptions = {}): Promise<Shop> {
  const url = await server.createDatabase();
  await migrate({ databaseUrl: url });
  const { shop, close } = await shopAt(url, options);
  // After a restart the onlooker's own connection is gone as well, so closing may find it ended.
  onTestFinished(async () => close().catch(() => undefined));
  return shop;
}

async function within<T>(work: Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await work;
  expect(performance.now() - startedMs).toBeLessThan(BOUND_MS);
  return result;
}

async function eventuallyApplied(store: OrderStore, batch: Parameters<typeof applyTo>[1]): Promise<string[]> {
  return eventually(async () => {
    const result = await applyTo(store, batch);
    expect(result.trouble).toBeNull();
    return wordsOf(result);
  });
}

describe("Postgres restarts", () => {
  test("while the store is idle: the process lives and the next event succeeds", async () => {
    const shop = await openHere();
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    await shop.store.readOrder("O1");
    await server.restart();
    expect(await eventuallyApplied(shop.store, [story.sold("c1")])).toEqual(["applied 2"]);
    expect(await shop.store.readOrder("O1")).toMatchObject({ version: 2 });
  });

  test("by SIGKILL in the middle of applies: nothing is lost, nothing twice, and it goes on", async () => {
    const shop = await openHere(SHORT);
    const stories = Array.from({ length: 6 }, (_, index) => new Story(`O${index}`));
    const batches = stories.map((story) => [
      story.placed(),
      ...Array.from({ length: 20 }, (_, n) => story.sold(`c${n}`, 1)),
    ]);
    const applying = batches.map(async (batch) => {
      for (const event of batch) await eventuallyApplied(shop.store, [event]);
    });
    await eventually(async () => (await shop.store.summary()).outboxUnpublished > 20);
    await server.kill("SIGKILL");
    const refused = await within(shop.store.apply([batchOf("O9", [new Story("O9").placed()])]));
    expect(refused).toMatchObject([{ settled: [], trouble: { kind: "down" } }]);
    await expect(within(shop.store.ping())).rejects.toThrow(Error);
    await server.restart();
    await Promise.all(applying);
    const { shop: fresh, close } = await shopAt(shop.url);
    onTestFinished(close);
    await expectSound(fresh);
    expect(await fresh.sql("select distinct version from orders")).toEqual([{ version: 21 }]);
  });
});

describe("Postgres hangs behind a line that swallows packets", () => {
  async function openBehindProxy(): Promise<{ shop: Shop; proxy: TcpProxy; store: OrderStore }> {
    const shop = await openHere();
    const proxy = await startProxy({ url: shop.url });
    onTestFinished(async () => proxy.close());
    return { shop, proxy, store: shop.openStore({ ...SHORT, databaseUrl: proxy.url, poolSize: 2 }) };
  }

  test.each([
    ["both directions", undefined],
    ["towards the server", "toServer"],
    ["towards the client", "toClient"],
  ] as const)("%s: apply ends in bounded time with a typed error, and heals", async (_which, direction) => {
    const { shop, proxy, store } = await openBehindProxy();
    const story = new Story("O1");
    await applyTo(store, [story.placed()]);
    proxy.drop(direction);
    const result = await within(applyTo(store, [story.sold("c1")]));
    expect(result).toMatchObject({ settled: [], trouble: { kind: "down" } });
    expect(result.trouble?.error).toBeInstanceOf(OrderStoreError);
    await eventually(() => expect(store.poolInUse()).toBe(0));
    proxy.heal();
    const words = await eventuallyApplied(store, [story.sold("c1")]);
    expect(["applied 2", "again applied 2"]).toContain(words[0]);
    await expectSound(shop);
  });

  test("many applies at once: each ends in bounded time, and the pool is whole afterwards", async () => {
    const { shop, proxy, store } = await openBehindProxy();
    const stories = Array.from({ length: 10 }, (_, index) => new Story(`O${index}`));
    await store.apply(stories.map((story) => batchOf(story.lcid, [story.placed()])));
    proxy.drop();
    const sales = stories.map((story) => story.sold("c1"));
    const results = await within(Promise.all(sales.map(async (sale) => applyTo(store, [sale]))));
    for (const { settled, trouble } of results) {
      expect(settled).toEqual([]);
      expect(trouble?.error).toBeInstanceOf(OrderStoreError);
    }
    // Those that had a connection know that nobody answers; those that queued for one in vain do not.
    const kinds = results.map(({ trouble }) => trouble?.kind);
    expect(kinds.filter((kind) => kind !== "down" && kind !== "passing")).toEqual([]);
    expect(kinds).toContain("down");
    await eventually(() => expect(store.poolInUse()).toBe(0));
    proxy.heal();
    for (const sale of sales) await eventuallyApplied(store, [sale]);
    await expectSound(shop);
  });

  test("reports and operators' calls end in bounded time as well", async () => {
    const { proxy, store } = await openBehindProxy();
    const story = new Story("O1");
    await applyTo(store, [story.placed(), story.captured("c1", "a1")]);
    await store.readOrder("O1");
    proxy.drop();
    const calls: Promise<unknown>[] = [
      store.ping(),
      store.readOrder("O1"),
      store.summary(),
      store.expireHeld("O1"),
      store.purgeOne("O1"),
      store.replay({ source: "/shop", id: "1" }),
    ];
    const ends = await within(Promise.allSettled(calls));
    expect(ends.map(({ status }) => status)).toEqual(calls.map(() => "rejected"));
    for (const end of ends) if (end.status === "rejected") expect(end.reason).toBeInstanceOf(Error);
  });

  test("close() ends in bounded time, also with work under way", async () => {
    const { proxy, store } = await openBehindProxy();
    const story = new Story("O1");
    await applyTo(store, [story.placed()]);
    proxy.drop();
    const applying = applyTo(store, [story.sold("c1")]);
    await within(store.close());
    await within(store.close());
    expect((await within(applying)).settled).toEqual([]);
    expect(await within(applyTo(store, [story.sold("c2")]))).toMatchObject({ settled: [] });
  });
});

describe("Postgres is frozen", () => {
  test("apply ends in bounded time, and the event is applied once when it thaws", async () => {
    const shop = await openHere({ ...SHORT, poolSize: 2 });
    const story = new Story("O1");
    await shop.apply([story.placed()]);
    const sale = story.sold("c1");
    server.freeze();
    const result = await within(applyTo(shop.store, [sale])).finally(() => server.resume());
    expect(result).toMatchObject({ settled: [], trouble: { kind: "down" } });
    await eventuallyApplied(shop.store, [sale]);
    expect(await shop.store.readOrder("O1")).toMatchObject({ version: 2 });
    await expectSound(shop);
  });
});

test("nobody listens at the address: apply and ping end in bounded time, typed", async () => {
  const { shop, close } = await shopAt(server.url);
  onTestFinished(close);
  const proxy = await startProxy({ url: server.url });
  const store = shop.openStore({ ...SHORT, databaseUrl: proxy.url });
  await proxy.close();
  const result = await within(applyTo(store, [new Story("O1").placed()]));
  expect(result).toMatchObject({ settled: [], trouble: { kind: "down" } });
  expect(result.trouble?.error).toBeInstanceOf(OrderStoreError);
  await expect(within(store.ping())).rejects.toBeInstanceOf(OrderStoreError);
  await within(store.close());
});

test("a wrong password or database is told apart from trouble that passes", async () => {
  const shop = await openHere();
  const wrong = new URL(shop.url);
  wrong.password = "not-it";
  const store = shop.openStore({ ...SHORT, databaseUrl: wrong.href });
  const result = await within(applyTo(store, [new Story("O1").placed()]));
  expect(result.settled).toEqual([]);
  expect(result.trouble).not.toBeNull();
  // The address, with its password, is never part of a message.
  expect(`${result.trouble?.error.message}${result.trouble?.error.stack}`).not.toContain("not-it");
});
