import { describe, expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import {
  enqueue,
  eventOf,
  forwarderProcess,
  freshLcid,
  freshShop,
  laneOf,
  nothingWaits,
  startForwarder,
} from "./lab.ts";
import type { Shop } from "./lab.ts";

const LIMIT_MS = 120_000;

const events = (lcid: string, from: number, to: number): object[] =>
  Array.from({ length: to - from }, (_, index) => eventOf(lcid, from + index));

const ids = (to: number): string[] => Array.from({ length: to }, (_, index) => String(index));

async function terminateForwarders({ pool }: Shop): Promise<void> {
  await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'junban-forwarder'`,
  );
}

describe("of several forwarders", () => {
  test("one is active, and another takes over when it is closed", async () => {
    const shop = await freshShop();
    const lcid = freshLcid();
    const first = startForwarder(shop);
    await eventually(() => first.state().role === "active");
    const second = startForwarder(shop);
    await eventually(() => second.state().role === "standby");
    await enqueue(shop, events(lcid, 0, 3));
    await nothingWaits(shop);
    expect(second.state().role).toBe("standby");
    await first.close();
    await eventually(() => second.state().role === "active");
    await enqueue(shop, events(lcid, 3, 6));
    await nothingWaits(shop);
    expect(await laneOf(shop, lcid)).toEqual(ids(6));
  });

  test("the active one stays it through leases in which nothing happens", async () => {
    const shop = await freshShop();
    const forwarder = startForwarder(shop, { leaseMs: 500, pollMs: 600_000 });
    await eventually(() => forwarder.state().role === "active");
    const sessions = async (): Promise<unknown[]> => {
      const { rows } = await shop.pool.query<{ pid: number; isOld: boolean }>(
        `SELECT pid, now() - backend_start > interval '2 seconds' AS "isOld" FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'junban-forwarder'`,
      );
      return rows;
    };
    const [session] = (await sessions()) as [{ pid: number }];
    await eventually(async () => expect(await sessions()).toEqual([{ pid: session.pid, isOld: true }]));
    expect(forwarder.state()).toEqual({ role: "active", trouble: null });
  });

  test(
    "one is active while their sessions are ended again and again: nothing is lost, doubled or out of order",
    async () => {
      const shop = await freshShop();
      const lcid = freshLcid();
      const both = [startForwarder(shop, { batch: 3 }), startForwarder(shop, { batch: 3 })];
      for (let round = 0; round < 5; round += 1) {
        await enqueue(shop, events(lcid, round * 10, round * 10 + 10));
        await terminateForwarders(shop);
        await eventually(() => both.some((forwarder) => forwarder.state().role === "active"));
      }
      await nothingWaits(shop);
      expect(await laneOf(shop, lcid)).toEqual(ids(50));
    },
    LIMIT_MS,
  );

  test.each(["SIGKILL", "SIGSTOP"] as const)(
    "one is active, and another takes over within seconds of its %s; what wakes again does no harm",
    async (signal) => {
      const shop = await freshShop();
      const lcid = freshLcid();
      const holder = await forwarderProcess(shop);
      await holder.waitForLine("is active");
      const second = startForwarder(shop, { leaseMs: 2_000 });
      await eventually(() => second.state().role === "standby");
      await enqueue(shop, events(lcid, 0, 3));
      await nothingWaits(shop);
      holder.signal(signal);
      await enqueue(shop, events(lcid, 3, 6));
      await eventually(() => second.state().role === "active", { withinMs: 30_000 });
      await nothingWaits(shop);
      if (signal === "SIGSTOP") {
        holder.signal("SIGCONT");
        await holder.waitForLine("is standby");
      }
      await enqueue(shop, events(lcid, 6, 9));
      await nothingWaits(shop);
      expect(await laneOf(shop, lcid)).toEqual(ids(9));
    },
    LIMIT_MS,
  );
});

describe("a forwarder that is killed", () => {
  test.each([
    ["between reading and publishing", "junban.forward.read", 0, 0],
    ["between publishing and marking", "junban.forward.published", 3, 0],
    ["between marking and the next rows", "junban.forward.marked", 3, 3],
  ])(
    "%s loses nothing, and the next one doubles and reorders nothing",
    async (_when, dieAt, published, marked) => {
      const shop = await freshShop();
      const lcid = freshLcid();
      await enqueue(shop, events(lcid, 0, 7));
      const victim = await forwarderProcess(shop, { dieAt });
      expect(await victim.exited).toEqual({ code: null, signal: "SIGKILL" });
      expect(await laneOf(shop, lcid)).toEqual(ids(published));
      const { rows } = await shop.pool.query<{ count: number }>(
        "SELECT count(*)::int FROM junban_upstream.events WHERE forwarded_at IS NOT NULL",
      );
      expect(rows[0]?.count).toBe(marked);
      startForwarder(shop);
      await nothingWaits(shop);
      expect(await laneOf(shop, lcid)).toEqual(ids(7));
    },
    LIMIT_MS,
  );
});
