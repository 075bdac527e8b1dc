import { startRedis } from "@junban/sandbox";
import { Redis } from "ioredis";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { createForwarder } from "../../packages/upstream-outbox/src/index.ts";
import type {
  EventSink,
  ForwarderOptions,
  ForwardObserver,
  ParkedRow,
  SinkResult,
} from "../../packages/upstream-outbox/src/index.ts";
import { eventually, freshRedis } from "../support/index.ts";
import {
  enqueue,
  eventOf,
  freshLcid,
  freshShop,
  laneOf,
  nothingWaits,
  rowsOf,
  startForwarder,
} from "./lab.ts";

/** Longer than any test: what happens under it was not found by looking again. */
const NEVER_MS = 600_000;

function signal(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

const states = async (shop: Parameters<typeof rowsOf>[0]): Promise<string[]> =>
  (await rowsOf(shop)).map(({ event, state }) => `${event.id} ${state}`);

/** Keeps what a forwarder says of trouble. */
function troublesTo(troubles: unknown[]): ForwardObserver {
  return { forwarded: () => {}, parked: () => {}, trouble: (error) => troubles.push(error) };
}

describe("a forwarder", () => {
  test("carries what is there already, and then each commit as soon as it is told of it", async () => {
    const shop = await freshShop();
    const lcid = freshLcid();
    await enqueue(shop, [eventOf(lcid, 1), eventOf(lcid, 2)]);
    const forwarder = startForwarder(shop, { pollMs: NEVER_MS });
    await nothingWaits(shop);
    await eventually(() => forwarder.state().role === "active");
    await enqueue(shop, [eventOf(lcid, 3)]);
    await nothingWaits(shop);
    expect(await laneOf(shop, lcid)).toEqual(["1", "2", "3"]);
    expect(await forwarder.backlog()).toEqual({ waiting: 0, parked: 0, oldestSeconds: 0 });
  });

  test("finds a commit that nobody told it of", async () => {
    const shop = await freshShop();
    const lcid = freshLcid();
    const { rows } = await shop.pool.query<{ text: string }>(
      "SELECT pg_get_functiondef('junban_upstream.enqueue_event'::regproc) AS text",
    );
    await shop.pool.query((rows[0]?.text ?? "").replace(/perform pg_notify\([^;]*;/, ""));
    const forwarder = startForwarder(shop, { pollMs: 100 });
    await eventually(() => forwarder.state().role === "active");
    await enqueue(shop, [eventOf(lcid, 1)]);
    await nothingWaits(shop);
    expect(await laneOf(shop, lcid)).toEqual(["1"]);
  });

  test("parks what can never be published, for people to see, and later rows of the same order go on", async () => {
    const shop = await freshShop();
    const lcid = freshLcid();
    // Whoever owns the table can write past the function.
    const write = async (event: object): Promise<void> =>
      void (await shop.pool.query("INSERT INTO junban_upstream.events (lcid, event) VALUES ($1, $2)", [
        lcid,
        event,
      ]));
    await enqueue(shop, [eventOf(lcid, "before")]);
    await write({ id: "unusable", lcid });
    await write(eventOf(lcid, "huge", { data: "x".repeat(70_000) }));
    await enqueue(shop, [eventOf(lcid, "after")]);
    const parked: ParkedRow[] = [];
    const forwarder = startForwarder(shop, {
      observer: { forwarded: () => {}, parked: (row) => parked.push(row), trouble: () => {} },
    });
    await nothingWaits(shop);
    expect(await states(shop)).toEqual([
      "before forwarded",
      "unusable parked",
      "huge parked",
      "after forwarded",
    ]);
    expect(await laneOf(shop, lcid)).toEqual(["before", "after"]);
    expect(parked.map(({ code }) => code)).toEqual(["INVALID_EVENT", "EVENT_TOO_LARGE"]);
    expect(await forwarder.backlog()).toMatchObject({ waiting: 0, parked: 2 });
    const { rows } = await shop.pool.query(
      "SELECT parked_code, parked_reason FROM junban_upstream.events WHERE parked_at IS NOT NULL ORDER BY id",
    );
    expect(rows[0]).toEqual({ parked_code: "INVALID_EVENT", parked_reason: 'specversion: the string "1.0"' });
  });

  test("leaves the rows of a full lane where they are, in order, and carries everybody else's", async () => {
    const shop = await freshShop();
    const [full, other] = [freshLcid(), freshLcid()];
    await enqueue(
      shop,
      [1, 2, 3, 4, 5].map((id) => eventOf(full, id)),
    );
    // Fewer at once than the full lane has rows: those must not keep the others from being read.
    startForwarder(shop, { laneCap: 2, batch: 2 });
    await eventually(async () => expect(await laneOf(shop, full)).toEqual(["1", "2"]));
    await enqueue(shop, [eventOf(other, "a"), eventOf(other, "b")]);
    await eventually(async () => expect(await laneOf(shop, other)).toEqual(["a", "b"]));
    expect((await states(shop)).slice(0, 5)).toEqual([
      "1 forwarded",
      "2 forwarded",
      "3 waiting",
      "4 waiting",
      "5 waiting",
    ]);
    const redis = freshRedis().connect();
    const served: string[] = [];
    await eventually(
      async () => {
        const standing = await laneOf(shop, full, redis);
        // A full lane takes nothing between being read and being emptied.
        if (standing.length === 2) {
          served.push(...standing);
          await redis.del(`${shop.prefix}:wait:{${full}}`, `${shop.prefix}:body:{${full}}`);
        }
        return (await states(shop)).every((state) => state.endsWith("forwarded"));
      },
      { withinMs: 30_000 },
    );
    served.push(...(await laneOf(shop, full, redis)));
    expect(served).toEqual(["1", "2", "3", "4", "5"]);
  });

  test("waits while Redis is away, says so, and goes on in order when it is back", async () => {
    const server = await startRedis();
    onTestFinished(async () => server.stop());
    const shop = { ...(await freshShop()), redisUrl: server.url };
    const lcid = freshLcid();
    const forwarder = startForwarder(shop, { timeoutMs: 1_000 });
    await enqueue(shop, [eventOf(lcid, 1)]);
    await nothingWaits(shop);
    await server.kill();
    await enqueue(shop, [eventOf(lcid, 2), eventOf(lcid, 3)]);
    await eventually(() => expect(forwarder.state().trouble).toMatch(/^REDIS_/));
    expect((await states(shop)).slice(1)).toEqual(["2 waiting", "3 waiting"]);
    await server.restart();
    await nothingWaits(shop);
    await eventually(() => expect(forwarder.state()).toEqual({ role: "active", trouble: null }));
    const redis = new Redis(server.url);
    onTestFinished(() => redis.disconnect());
    // What the killed server had not saved yet is gone with it; what it was told afterwards stands in order.
    expect((await laneOf(shop, lcid, redis)).filter((id) => id !== "1")).toEqual(["2", "3"]);
  });

  test("says once that Redis refuses every order, and goes on when it does not any more", async () => {
    const shop = await freshShop();
    await enqueue(shop, [eventOf("L-1", 1), eventOf("L-2", 2)]);
    const refusal = Object.assign(new Error("no permission"), { code: "REDIS_REFUSED" });
    let answer: SinkResult = { kind: "refused", error: refusal };
    const publishAll: EventSink["publishAll"] = async (events) => events.map(() => answer);
    const troubles: unknown[] = [];
    const forwarder = startForwarder(shop, { publisher: { publishAll }, observer: troublesTo(troubles) });
    await eventually(() => forwarder.state().trouble === "REDIS_REFUSED");
    answer = { kind: "published" };
    await nothingWaits(shop);
    await eventually(() => expect(forwarder.state()).toEqual({ role: "active", trouble: null }));
    expect(troubles).toEqual([refusal]);
  });

  test("marks nothing that it has no answer for, and asks again", async () => {
    const shop = await freshShop();
    await enqueue(shop, [eventOf("L-1", 1), eventOf("L-1", 2), eventOf("L-1", 3)]);
    const calls: unknown[][] = [];
    const away = Object.assign(new Error("away"), { code: "REDIS_AWAY" });
    const publisher: EventSink = {
      publishAll: async (events): Promise<readonly SinkResult[]> => {
        calls.push(events.map((event) => (event as { id: string }).id));
        if (calls.length === 1) return [{ kind: "published" }, { kind: "refused", error: away }];
        return events.map(() => ({ kind: "published" }));
      },
    };
    startForwarder(shop, { publisher });
    await nothingWaits(shop);
    expect(calls).toEqual([
      ["1", "2", "3"],
      ["2", "3"],
    ]);
  });

  test("finishes what it has read when it is closed, and reads no more", async () => {
    const shop = await freshShop();
    await enqueue(shop, [eventOf("L-1", 1), eventOf("L-1", 2)]);
    const asked = signal();
    const answer = signal();
    const publishAll: EventSink["publishAll"] = async (events) => {
      asked.resolve();
      await answer.promise;
      return events.map(() => ({ kind: "published" }));
    };
    const forwarder = startForwarder(shop, { batch: 1, publisher: { publishAll } });
    await asked.promise;
    const closed = forwarder.close();
    answer.resolve();
    await closed;
    expect(await states(shop)).toEqual(["1 forwarded", "2 waiting"]);
    expect(forwarder.state().role).toBe("stopped");
    await forwarder.close();
  });

  test("deletes what was forwarded long enough ago, and nothing else", async () => {
    const shop = await freshShop();
    await enqueue(shop, [eventOf("L-1", "old"), eventOf("L-1", "young"), eventOf("L-1", "parked")]);
    const age = async (id: string, set: string): Promise<void> =>
      void (await shop.pool.query(`UPDATE junban_upstream.events SET ${set} WHERE event ->> 'id' = $1`, [
        id,
      ]));
    await age("old", "forwarded_at = now() - interval '2 hours'");
    await age("young", "forwarded_at = now() - interval '30 minutes'");
    await age("parked", "parked_at = now() - interval '3 hours'");
    await shop.pool.query(
      `INSERT INTO junban_upstream.events (lcid, event, forwarded_at)
         SELECT 'L-1', '{"id": "bulk"}', now() - interval '1 day' FROM generate_series(1, 2500)`,
    );
    startForwarder(shop, { keepMs: 3_600_000 });
    await eventually(async () => expect(await states(shop)).toEqual(["young forwarded", "parked parked"]));
  });

  test("goes on where nothing may be deleted, and says so once", async () => {
    const shop = await freshShop();
    await shop.pool.query(
      `CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''kept''; END';
       CREATE TRIGGER keep BEFORE DELETE ON junban_upstream.events FOR EACH STATEMENT EXECUTE FUNCTION keep()`,
    );
    const lcid = freshLcid();
    const ids = ["1", "2", "3", "4", "5"];
    await enqueue(
      shop,
      ids.map((id) => eventOf(lcid, id)),
    );
    const troubles: unknown[] = [];
    startForwarder(shop, { batch: 1, observer: troublesTo(troubles) });
    await nothingWaits(shop);
    expect(await laneOf(shop, lcid)).toEqual(ids);
    expect(troubles).toMatchObject([{ code: "P0001" }]);
  });

  test("reads events in a process that has told pg to leave JSON alone", async () => {
    const { JSONB } = pg.types.builtins;
    pg.types.setTypeParser(JSONB, (text) => text);
    onTestFinished(() => pg.types.setTypeParser(JSONB, (text) => JSON.parse(text) as unknown));
    const shop = await freshShop();
    const lcid = freshLcid();
    await enqueue(shop, [eventOf(lcid, 1)]);
    startForwarder(shop);
    await nothingWaits(shop);
    expect(await laneOf(shop, lcid)).toEqual(["1"]);
  });

  test.each<Partial<ForwarderOptions>>([
    { pollMs: 0 },
    { pollMs: 600_001 },
    { leaseMs: 99 },
    { batch: 1_001 },
    { keepMs: 1.5 },
  ])("is not made with %j", (option) => {
    const publisher: EventSink = { publishAll: async () => [] };
    const databaseUrl = "postgres://127.0.0.1:1/none";
    expect(() => createForwarder({ databaseUrl, publisher, ...option })).toThrow("a whole number from");
  });
});
