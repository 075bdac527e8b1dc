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
