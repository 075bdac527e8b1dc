import { PUT_BACK_AT_ONCE } from "@junban/order-store";
import { describe, expect, test } from "vitest";
import { openShop, type Shop } from "./shop.ts";

/** Parks rows as the relay does, without an order; answers with their numbers. */
async function park(shop: Shop, versions: readonly number[], lcid = "O1"): Promise<readonly number[]> {
  const rows = await shop.sql<{ id: string }>(
    `insert into outbox_parked (id, lcid, version, payload, created_at, reason)
     select nextval(pg_get_serial_sequence('outbox', 'id')), '${lcid}', version, '{}', now(), 'nobody wants it'
     from unnest(array[${versions.join()}]::bigint[]) as given(version)
     returning id`,
  );
  return rows.map(({ id }) => Number(id));
}

const outboxOf = async (shop: Shop): Promise<readonly unknown[]> =>
  shop.sql("select id::int, lcid, version::int from outbox order by id");

describe("parked news that are given back", () => {
  test("stand in their old place in the outbox; numbers under which nothing is parked are told", async () => {
    const shop = await openShop();
    const [first = 0, second = 0] = await park(shop, [1, 2]);

    expect(await shop.store.putBackParked([second, 999_999, first])).toEqual({
      back: [second, first],
      standing: [],
      missing: [999_999],
    });

    expect(await outboxOf(shop)).toEqual([
      { id: first, lcid: "O1", version: 1 },
      { id: second, lcid: "O1", version: 2 },
    ]);
    expect(await shop.store.listParked({ limit: 10 })).toEqual([]);
  });

  test("stay parked and are told where the outbox holds their version already; the others go", async () => {
    const shop = await openShop();
    await shop.sql("insert into outbox (lcid, version, payload) values ('O1', 2, '{}')");
    const [one = 0, two = 0, three = 0] = await park(shop, [1, 2, 3]);
    const [again = 0] = await park(shop, [3]);

    expect(await shop.store.putBackParked([one, two, three, again])).toEqual({
      back: [one, three],
      standing: [two, again],
      missing: [],
    });

    const parked = await shop.store.listParked({ limit: 10 });
    expect(parked.map(({ id, version }) => ({ id, version }))).toEqual([
      { id: two, version: 2 },
      { id: again, version: 3 },
    ]);
    expect(await outboxOf(shop)).toHaveLength(3);
  });

  test("are listed in portions, each behind the last number of the one before", async () => {
    const shop = await openShop();
    const ids = await park(shop, [1, 2, 3]);
    const first = await shop.store.listParked({ limit: 2 });
    expect(first.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const rest = await shop.store.listParked({ limit: 2, after: first.at(-1)?.id ?? 0 });
    expect(rest.map(({ id }) => id)).toEqual(ids.slice(2));
  });

  test("are never more than a thousand at once", async () => {
    const shop = await openShop();
    const many = Array.from({ length: PUT_BACK_AT_ONCE + 1 }, (_, index) => index + 1);
    await expect(shop.store.putBackParked(many)).rejects.toThrow("at most 1000 at once");
  });
});
