import { expect, test } from "vitest";
import { openShop, wordsOf } from "./shop.ts";
import type { Shop } from "./shop.ts";
import { Story } from "./story.ts";

const FIRST = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const OTHER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** What downstream is told of each event, by version. */
async function toldEvents(shop: Shop): Promise<unknown[]> {
  const rows = await shop.sql<{ event: unknown }>(
    "select payload -> 'event' as event from outbox order by version",
  );
  return rows.map(({ event }) => event);
}

test("an event tells downstream the trace it came in, and one without a trace tells none", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([
    story.placed({ L1: 2 }, { traceparent: FIRST, tracestate: "vendor=opaque" }),
    story.sold("c1", 10, { traceparent: "not one that could be followed" }),
    story.sold("c2", 10),
  ]);
  expect(await toldEvents(shop)).toEqual([
    { source: "/shop", id: "O1/1", type: "order.placed", traceparent: FIRST, tracestate: "vendor=opaque" },
    { source: "/shop", id: "O1/2", type: "payment.captured" },
    { source: "/shop", id: "O1/3", type: "payment.captured" },
  ]);
});

test("a held event tells its own trace when it is released, by the transaction it came with or by a later one", async () => {
  const shop = await openShop();
  const story = new Story("O1");
  await shop.apply([story.captured("c1", "a1", 100, { traceparent: FIRST })]);
  await shop.apply([
    story.captured("c2", "a1", 100, { traceparent: OTHER }),
    story.placed(),
    story.authorized("a1"),
  ]);
  const told = await toldEvents(shop);
  expect(told.slice(2)).toEqual([
    { source: "/shop", id: "O1/1", type: "payment.captured", traceparent: FIRST },
    { source: "/shop", id: "O1/2", type: "payment.captured", traceparent: OTHER },
  ]);
});

test("an event that comes again in another trace is the same event, and keeps its first", async () => {
  const shop = await openShop();
  const event = new Story("O1").placed({ L1: 2 }, { traceparent: FIRST });
  const again = { ...event, traceparent: OTHER };
  expect(wordsOf(await shop.apply([event, again]))).toEqual(["applied 1", "again applied 1"]);
  expect(wordsOf(await shop.apply([again]))).toEqual(["again applied 1"]);
  expect(await toldEvents(shop)).toMatchObject([{ traceparent: FIRST }]);
  expect((await shop.store.readEvent(event))?.event).toEqual(event);
});
