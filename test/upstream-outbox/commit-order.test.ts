import { describe, expect, test } from "vitest";
import { enqueueEvent } from "../../packages/upstream-outbox/src/index.ts";
import { eventually } from "../support/index.ts";
import { begun, end, eventOf, freshLcid, freshShop, laneOf, nothingWaits, startForwarder } from "./lab.ts";
import type { Shop } from "./lab.ts";

/** How many sessions of this database wait for a lock. */
async function waiters({ pool }: Shop): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return rows[0]?.count ?? 0;
}

/** As a database whose function takes no lock. */
async function withoutLock({ pool }: Shop): Promise<void> {
  const { rows } = await pool.query<{ text: string }>(
    "SELECT pg_get_functiondef('junban_upstream.enqueue_event'::regproc) AS text",
  );
  const text = rows[0]?.text ?? "";
  const spoiled = text.replace(/perform pg_advisory_xact_lock\([^;]*;/, "");
  expect(spoiled).not.toBe(text);
  await pool.query(spoiled);
}

describe("writers of one order", () => {
  test.each(["COMMIT", "ROLLBACK"] as const)(
    "wait for the %s of the one before, so that their rows are numbered as they commit",
    async (how) => {
      const shop = await freshShop();
      const lcid = freshLcid();
      startForwarder(shop);
      const first = await begun(shop);
      const second = await begun(shop);
      await enqueueEvent(first, eventOf(lcid, "first"));
      const later = enqueueEvent(second, eventOf(lcid, "second"));
      await eventually(async () => expect(await waiters(shop)).toBe(1));
      await end(first, how);
      await later;
      await end(second, "COMMIT");
      await nothingWaits(shop);
      expect(await laneOf(shop, lcid)).toEqual(how === "COMMIT" ? ["first", "second"] : ["second"]);
    },
  );

  test("negative control: without the lock, what commits later stands first", async () => {
    const shop = await freshShop();
    await withoutLock(shop);
    const lcid = freshLcid();
    const [late, early] = [await begun(shop), await begun(shop)];
    await enqueueEvent(late, eventOf(lcid, "committed-second"));
    await enqueueEvent(early, eventOf(lcid, "committed-first"));
    await end(early, "COMMIT");
    await end(late, "COMMIT");
    startForwarder(shop);
    await nothingWaits(shop);
    expect(await laneOf(shop, lcid)).toEqual(["committed-second", "committed-first"]);
  });

  test("do not wait for writers of another order, and none is lost that commits behind a higher number", async () => {
    const shop = await freshShop();
    const [early, late] = [freshLcid(), freshLcid()];
    startForwarder(shop);
    const first = await begun(shop);
    const second = await begun(shop);
    await enqueueEvent(first, eventOf(early, "first"));
    await enqueueEvent(second, eventOf(late, "second"));
    await end(second, "COMMIT");
    await eventually(async () => expect(await laneOf(shop, late)).toEqual(["second"]));
    await end(first, "COMMIT");
    await eventually(async () => expect(await laneOf(shop, early)).toEqual(["first"]));
  });

  test("wait for no forwarder, even where their order has the name of the forwarders' lock", async () => {
    const shop = await freshShop();
    const forwarder = startForwarder(shop);
    await eventually(() => forwarder.state().role === "active");
    const lcid = "junban_upstream.forwarder";
    const client = await begun(shop);
    await client.query("SET LOCAL lock_timeout = '5s'");
    await enqueueEvent(client, eventOf(lcid, 1));
    await end(client, "COMMIT");
    await eventually(async () => expect(await laneOf(shop, lcid)).toEqual(["1"]));
  });

  test("write what they like at once: each order's lane has its commits, in their order, and nothing that was rolled back", async () => {
    const shop = await freshShop();
    const lcids = [freshLcid(), freshLcid(), freshLcid()];
    startForwarder(shop, { batch: 7 });
    const committed = new Map<string, string[]>(lcids.map((lcid) => [lcid, []]));
    const writer = async (name: number): Promise<void> => {
      for (let turn = 0; turn < 20; turn += 1) {
        const lcid = lcids[(name + turn) % lcids.length] ?? "";
        const id = `${name}-${turn}`;
        const client = await begun(shop);
        await enqueueEvent(client, eventOf(lcid, id));
        // Between here and the answer to the commit nobody else holds the lane, so this list is in commit order.
        const isKept = (name * 7 + turn) % 4 !== 0;
        if (isKept) committed.get(lcid)?.push(id);
        await end(client, isKept ? "COMMIT" : "ROLLBACK");
      }
    };
    await Promise.all([0, 1, 2, 3, 4, 5].map(writer));
    await nothingWaits(shop);
    for (const lcid of lcids) expect(await laneOf(shop, lcid)).toEqual(committed.get(lcid));
  });
});
