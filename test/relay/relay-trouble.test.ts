import { startRedis } from "@junban/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, freshDatabase } from "../support/index.ts";
import {
  connectTo,
  freshPlace,
  openStore,
  openUpdates,
  outboxOf,
  poolOf,
  queued,
  startRelay,
  takeAll,
  told,
  versionsOf,
  writeNews,
} from "./lab.ts";

describe("news that cannot be passed on", () => {
  test("are parked with the reason, and all others go on, those of the same order too", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    await writeNews(pool, [
      { lcid: "O1", version: 1, payload: "no object" },
      { lcid: "O1", version: 2 },
      { lcid: "O2", version: 1, payload: { lcid: "O1", version: 1 } },
      { lcid: "O3", version: 1, payload: { lcid: "O3", version: "1" } },
      { lcid: "O2", version: 2 },
    ]);

    const relay = startRelay(place);

    await eventually(async () => (await outboxOf(pool)).length === 0);
    expect(await queued(place)).toEqual(["O1 2", "O2 2"]);
    const { rows } = await pool.query("select lcid, version::int, reason from outbox_parked order by id");
    expect(rows).toEqual([
      { lcid: "O1", version: 1, reason: "its payload is no object" },
      { lcid: "O2", version: 1, reason: "its payload names another order" },
      { lcid: "O3", version: 1, reason: "its payload names another version" },
    ]);
    expect(relay.counts).toEqual({ passedOn: 2, parked: 3 });
    expect(await openStore(place).gauges()).toMatchObject({ outboxParked: 3, outboxUnpublished: 0 });
  });

  test("are not parked while the queue refuses everything: then the queue is the trouble", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    const redis = connectTo(place);
    const inTheWay = `${place.prefix}:{order-updates}:wait`;
    await redis.set(inTheWay, "no list");
    await writeNews(pool, versionsOf("O1", 3));

    const relay = startRelay(place);

    await eventually(() => relay.obstacle === "queue away");
    expect(await outboxOf(pool)).toEqual(versionsOf("O1", 3));
    expect(relay.counts.parked).toBe(0);

    await redis.del(inTheWay);

    await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 20_000 });
    expect(relay.counts.parked).toBe(0);
    // A job that was written and not put in line while the list was in the way must not pass for one that is there.
    expect(await queued(place)).toEqual(told(versionsOf("O1", 3)));
  });
});

describe("a relay whose Redis is away", () => {
  test("keeps everything in the outbox, says so once, and goes on by itself", async () => {
    const redis = await startRedis();
    onTestFinished(async () => redis.stop());
    const place = { databaseUrl: await freshDatabase(), redisUrl: redis.url, prefix: "junban" };
    const pool = poolOf(place);
    const relay = startRelay(place);
    await writeNews(pool, versionsOf("O1", 2));
    await eventually(async () => (await outboxOf(pool)).length === 0);

    await redis.kill("SIGTERM");
    await writeNews(pool, versionsOf("O1", 3, 3));
    await eventually(() => relay.obstacle === "queue away", { withinMs: 20_000 });
    expect(await outboxOf(pool)).toEqual(versionsOf("O1", 3, 3));
    await redis.restart();

    await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 20_000 });
    expect(await queued(place)).toEqual(expect.arrayContaining(told(versionsOf("O1", 3, 3))));
    expect(relay.lines.filter((line) => line.includes("cannot be queued"))).toHaveLength(1);
    expect(relay.counts.parked).toBe(0);
  });
});

describe("of two relays whose Redis is away for long", () => {
  test("the one that stood aside is well again as soon as it is back", async () => {
    const redis = await startRedis();
    onTestFinished(async () => redis.stop());
    const place = { databaseUrl: await freshDatabase(), redisUrl: redis.url, prefix: "junban" };
    const pool = poolOf(place);
    const relays = [startRelay(place), startRelay(place)];
    await eventually(() => relays.some(({ leads }) => leads), { withinMs: 20_000 });
    const first = relays.find(({ leads }) => leads);

    await redis.kill("SIGTERM");
    await writeNews(pool, versionsOf("O1", 3));
    await eventually(() => relays.some((one) => one !== first && one.leads), { withinMs: 60_000 });
    await redis.restart();

    await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 20_000 });
    await eventually(() => relays.every(({ obstacle }) => obstacle === null), { withinMs: 20_000 });
    expect((await queued(place)).toSorted()).toEqual(told(versionsOf("O1", 3)));
    const said = relays.flatMap(({ lines }) =>
      lines.filter((line) => line.includes("passes order updates on")),
    );
    expect(said.length).toBeLessThanOrEqual(2);
  }, 120_000);
});

describe("a relay whose Postgres takes no writes", () => {
  test("queues nothing a second time, and goes on when it does again", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    const name = new URL(place.databaseUrl).pathname.slice(1);
    await writeNews(pool, versionsOf("O1", 3));
    const updates = openUpdates(place);
    let added = 0;
    const counting = {
      ...updates,
      depth: async () => updates.depth(),
      close: async () => updates.close(),
      add: async (news: Parameters<typeof updates.add>[0]) => {
        added += news.length;
        return updates.add(news);
      },
    };
    await pool.query(`alter database "${name}" set default_transaction_read_only = on`);
    const relay = startRelay(place, { updates: counting });
    await eventually(() => relay.obstacle === "outbox away", { withinMs: 20_000 });
    await takeAll(place);
    const lines = relay.lines.length;
    // Each time that it leads it would find the same rows.
    const led = relay.ledTimes();
    await eventually(() => relay.ledTimes() >= led + 3, { withinMs: 30_000 });
    expect(added).toBe(3);
    expect(relay.lines.length).toBe(lines);

    await pool.query(`alter database "${name}" set default_transaction_read_only = off`);
    await pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()",
      [name],
    );
    await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 20_000 });
    expect(added).toBe(3);
  }, 60_000);
});

describe("a relay whose Postgres is away", () => {
  test("says so once and leads again when it is back", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    const url = new URL(place.databaseUrl);
    const name = url.pathname.slice(1);
    const relay = startRelay(place);
    await eventually(() => relay.leads, { withinMs: 20_000 });
    const admin = poolOf({
      ...place,
      databaseUrl: Object.assign(new URL(url), { pathname: "/postgres" }).href,
    });
    await admin.query(`alter database "${name}" allow_connections false`);
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
    await eventually(() => relay.obstacle === "outbox away", { withinMs: 20_000 });
    expect(relay.leads).toBe(false);

    await admin.query(`alter database "${name}" allow_connections true`);
    await eventually(() => relay.leads, { withinMs: 20_000 });
    await writeNews(pool, versionsOf("O1", 2));

    await eventually(async () => (await outboxOf(pool)).length === 0);
    expect(relay.lines.filter((line) => line.includes("cannot be read"))).toHaveLength(1);
    expect(await openUpdates(place).depth()).toBe(2);
  });
});
