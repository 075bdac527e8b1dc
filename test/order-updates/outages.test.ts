import { startPostgres, startProxy, startRedis } from "@junban/sandbox";
import type { RedisOptions, RedisServer } from "@junban/sandbox";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, freshDatabase } from "../support/index.ts";
import { connectTo, effectsOf, openPool, openStation, prepare } from "./setting.ts";
import type { Corner } from "./setting.ts";

const PATIENT = { gapWaitMs: 120_000 };
const LONG = { withinMs: 50_000 };

async function startOwnRedis(options: RedisOptions = {}): Promise<RedisServer & Corner> {
  const server = await startRedis(options);
  onTestFinished(async () => server.stop());
  return Object.assign(server, { prefix: "junban" });
}

function codesOf(errors: readonly Error[]): unknown[] {
  return errors.map((error) => ("code" in error ? error.code : undefined));
}

describe("Redis goes away and comes back", () => {
  test("without a database: consumption goes on by itself, and what was handled is still known", async () => {
    const server = await startOwnRedis();
    const station = openStation(server);
    const seen = await station.onRedis(PATIENT);
    await station.send("A", 1, 2);
    await eventually(() => seen.consumer.counts().handled === 2);
    await eventually(async () => (await station.left()) === 0);
    await server.restart({ awayMs: 2_000 });
    await station.send("A", 2, 3);
    await eventually(async () => (await station.left()) === 0, LONG);
    expect(seen.begun).toEqual(["A@1", "A@2", "A@3"]);
    expect(seen.skipped).toEqual([{ lcid: "A", version: 2, last: 2 }]);
  }, 120_000);

  test("with a database: the effect of a handler that works through it commits, once", async () => {
    const server = await startOwnRedis();
    const station = openStation(server);
    const pool = await openPool();
    let isBack = false;
    const seen = await station.onPostgres(pool, PATIENT, async () => {
      await eventually(() => isBack, LONG);
    });
    await station.send("A", 1);
    await eventually(() => seen.begun.length === 1);
    await server.restart({ awayMs: 1_000 });
    isBack = true;
    await station.send("A", 2);
    await eventually(async () => (await station.left()) === 0, LONG);
    expect(await effectsOf(pool)).toEqual(["A@1", "A@2"]);
    expect(seen.gaps).toEqual([]);
  }, 120_000);

  test("a server that forgot everything learns again who is subscribed", async () => {
    const server = await startOwnRedis({ appendOnly: false });
    const station = openStation(server);
    const billing = await station.onRedis({ ...PATIENT, name: "billing" });
    const shipping = await station.onRedis({ ...PATIENT, name: "shipping" });
    await server.kill();
    await server.restart();
    const redis = new Redis(server.url);
    onTestFinished(() => redis.disconnect());
    await eventually(async () => (await redis.scard("junban:order-updates:names")) === 2, LONG);
    await station.send("A", 1);
    await eventually(() => billing.begun.length > 0 && shipping.begun.length > 0, LONG);
  }, 120_000);

  test("closing is bounded while it is away", async () => {
    const server = await startOwnRedis();
    const station = openStation(server);
    const onRedis = await station.onRedis();
    const onPostgres = await station.onPostgres(await openPool(), { name: "shipping" });
    await server.kill();
    const startedMs = performance.now();
    await Promise.all(
      [onRedis, onPostgres].map(async ({ consumer }) => consumer.close({ deadlineMs: 1_000 })),
    );
    expect(performance.now() - startedMs).toBeLessThan(30_000);
  });
});

describe("the subscriber's Postgres goes away and comes back", () => {
  test("every version takes effect once and in its turn, and the outage is told seldom", async () => {
    const server = await startPostgres({ fast: true });
    onTestFinished(async () => server.stop());
    const pool = connectTo(await server.createDatabase());
    await prepare(pool);
    const station = openStation();
    const seen = await station.onPostgres(pool, PATIENT);
    const orders = Array.from({ length: 20 }, (_, index) => `O${index + 1}`);
    await Promise.all(orders.map(async (lcid) => station.send(lcid, 1)));
    await eventually(() => seen.consumer.counts().handled === 20, LONG);
    await server.kill();
    await Promise.all(orders.map(async (lcid) => station.send(lcid, 2, 3)));
    await eventually(() => seen.consumer.counts().failed >= 20, LONG);
    await server.restart();
    await eventually(async () => (await station.left()) === 0, LONG);
    const effects = await effectsOf(pool);
    for (const lcid of orders) {
      expect(effects.filter((effect) => effect.startsWith(`${lcid}@`))).toEqual(
        [1, 2, 3].map((version) => `${lcid}@${version}`),
      );
    }
    expect(seen.gaps).toEqual([]);
    expect(codesOf(seen.errors)).toContain("GUARD_UNAVAILABLE");
    // One a kind of message, and Postgres has a handful of them for going, being away and starting.
    expect(seen.errors.length).toBeLessThan(10);
  }, 180_000);

  test("a line on which packets vanish ends the attempt in time, and the update comes again", async () => {
    const proxy = await startProxy({ url: await freshDatabase() });
    onTestFinished(async () => proxy.close());
    const pool = connectTo(proxy.url);
    await prepare(pool);
    const station = openStation();
    const seen = await station.onPostgres(pool, { ...PATIENT, leaseMs: 1_000 });
    await station.send("A", 1);
    await eventually(() => seen.consumer.counts().handled === 1);
    proxy.drop();
    await station.send("A", 2);
    await eventually(() => seen.errors.length > 0, LONG);
    expect(codesOf(seen.errors)).toContain("GUARD_UNAVAILABLE");
    proxy.heal();
    await eventually(async () => (await station.left()) === 0, LONG);
    expect(await effectsOf(pool)).toEqual(["A@1", "A@2"]);
  }, 120_000);

  test("a session that the server ends under a handler leaves no effect, and the update comes again", async () => {
    const station = openStation();
    const pool = await openPool();
    let isFirst = true;
    const seen = await station.onPostgres(pool, PATIENT, async (_update, { transaction }) => {
      if (!isFirst) return;
      isFirst = false;
      await transaction.query("select pg_terminate_backend(pg_backend_pid())");
    });
    await station.send("A", 1);
    await eventually(async () => (await station.left()) === 0, LONG);
    expect(await effectsOf(pool)).toEqual(["A@1"]);
    expect(codesOf(seen.errors)).toEqual(["HANDLER_FAILED"]);
  });
});
