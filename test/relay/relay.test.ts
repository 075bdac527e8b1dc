import { describe, expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import {
  freshPlace,
  openTestOutbox,
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

describe("a relay", () => {
  test("puts what was committed into the queue, each order's versions in their order, and then deletes it", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    const rows = [1, 2, 3].flatMap((version) => ["O1", "O2", "O3"].map((lcid) => ({ lcid, version })));
    await writeNews(pool, rows);

    const relay = startRelay(place);

    await eventually(async () => (await outboxOf(pool)).length === 0);
    expect(await queued(place)).toEqual(told(rows));
    expect(relay.counts).toEqual({ passedOn: 9, parked: 0 });
  });

  test("goes through more than it reads at a time", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    const rows = versionsOf("O1", 1_250);
    await writeNews(pool, rows);

    startRelay(place);

    await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 20_000 });
    expect(await queued(place)).toEqual(told(rows));
  });

  test("passes on what took its number first and commits last, and nothing before its commit", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    const early = await pool.connect();
    await early.query("begin");
    await writeNews(early, [{ lcid: "EARLY", version: 1 }]);
    await writeNews(pool, [{ lcid: "LATE", version: 1 }]);
    startRelay(place);
    await eventually(async () => (await queued(place)).length === 1);
    expect(await queued(place)).toEqual(["LATE 1"]);

    await early.query("commit");
    early.release();

    await eventually(async () => (await queued(place)).length === 2);
    expect(await queued(place)).toEqual(["LATE 1", "EARLY 1"]);
    await eventually(async () => (await outboxOf(pool)).length === 0);
  });

  test("is woken by a commit, and does not wait until it would look by itself", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    const relay = startRelay(place, { pollMs: 9_000 });
    // It has found nothing: it looks again in nine seconds, or when it is woken.
    await eventually(() => relay.looks() === 1);

    const client = await pool.connect();
    await client.query("begin");
    await writeNews(client, versionsOf("O1", 1));
    await client.query("select pg_notify('junban_outbox', '')");
    await client.query("commit");
    client.release();

    await eventually(async () => (await queued(place)).length === 1, { withinMs: 5_000 });
  });

  test("does not queue again what is in the queue already, when it died before it could delete it", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    const rows = versionsOf("shop:7/A@1=~", 3);
    await writeNews(pool, rows);
    const dying = openTestOutbox(place);
    const lead = await dying.lead();
    const news = (await lead?.next({ passedOn: [], limit: 2 })) ?? [];
    await openUpdates(place).add(news);
    await dying.close();

    startRelay(place);

    await eventually(async () => (await outboxOf(pool)).length === 0);
    expect(await queued(place)).toEqual(told(rows));
  });

  test("waits while the queue is full, says so once, and goes on when somebody has taken some", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    await writeNews(pool, versionsOf("O1", 5));
    const relay = startRelay(place, { cap: 3, pollMs: 50 });
    await eventually(() => relay.obstacle === "queue full");
    expect(await queued(place)).toEqual(told(versionsOf("O1", 3)));
    expect(await outboxOf(pool)).toEqual(versionsOf("O1", 2, 4));

    await takeAll(place);

    await eventually(async () => (await outboxOf(pool)).length === 0);
    expect(await queued(place)).toEqual(told(versionsOf("O1", 2, 4)));
    expect(relay.obstacle).toBeNull();
    expect(relay.lines.filter((line) => line.includes("is full"))).toHaveLength(1);
    expect(relay.lines.at(-1)).toBe("order updates flow again");
  });
});

describe("of several relays", () => {
  test("one leads; when it is stopped another takes over, and nothing is passed on twice", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    const relays = [startRelay(place), startRelay(place)];
    const leaders = (): number => relays.filter(({ leads }) => leads).length;
    await eventually(() => leaders() === 1, { withinMs: 20_000 });
    await writeNews(pool, versionsOf("O1", 3));
    await eventually(async () => (await outboxOf(pool)).length === 0);
    const first = relays.find(({ leads }) => leads);

    await first?.stop();
    await writeNews(pool, versionsOf("O1", 3, 4));

    await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 20_000 });
    expect(first?.leads).toBe(false);
    expect(leaders()).toBe(1);
    expect(await queued(place)).toEqual(told(versionsOf("O1", 6)));
  });

  test("another takes over when the server ends the connection of the one that leads", async () => {
    const place = await freshPlace();
    const pool = poolOf(place);
    const relays = [startRelay(place), startRelay(place)];
    await eventually(() => relays.some(({ leads }) => leads), { withinMs: 20_000 });

    await pool.query(
      `select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`,
    );
    await writeNews(pool, versionsOf("O1", 3));

    await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 20_000 });
    expect(await queued(place)).toEqual(told(versionsOf("O1", 3)));
  });
});
