import { readFile } from "node:fs/promises";
import { delimiter, dirname } from "node:path";
import { findProgram, startProcess } from "@junban/sandbox";
import { isGood } from "@junban/trial";
import { beforeAll, expect, test } from "vitest";
import { environmentOf, freshPlace, type Place } from "../fleet/worker-lab.ts";
import { blocksIn, eventually, freshDatabase, PROGRAMS, scriptFolder } from "../support/index.ts";
import { withClient } from "../support/run.ts";
import { freshShop, nothingWaits, type Shop } from "../upstream-outbox/lab.ts";
import {
  backUp,
  driftIn,
  enqueueAll,
  forwardAll,
  invoicesIn,
  judge,
  openBooks,
  restore,
  storyInThreeParts,
  subscribe,
  versionsIn,
  workUntil,
} from "./restore-lab.ts";

/** The steps of docs/operations.md, each run as it stands there. */
const LIMIT_MS = 240_000;
const page = await readFile(new URL("../../docs/operations.md", import.meta.url), "utf8");
const steps = blocksIn(page.slice(page.indexOf("### The steps")), { language: "sh" });
const [giveTime, emptyRedis, setBack, tellAgain, publishAgain] = steps as [
  string,
  string,
  string,
  string,
  string,
];

let path: string;

beforeAll(async () => {
  const psql = await findProgram(PROGRAMS.psql);
  const redisCli = await findProgram(PROGRAMS.redisCli);
  path = [dirname(psql), dirname(redisCli), process.env["PATH"]].join(delimiter);
}, 300_000);

interface Site {
  readonly place: Place;
  readonly shop: Shop;
  /** A subscriber's database. */
  readonly books: string;
  readonly run: (step: string) => Promise<void>;
}

/** A fleet, a producer with an outbox before it, and a subscriber behind it. */
async function freshSite(): Promise<Site> {
  const place = await freshPlace();
  const shop = { ...(await freshShop()), redisUrl: place.redisUrl, prefix: place.prefix };
  const books = await freshDatabase();
  await openBooks(books);
  const cwd = await scriptFolder();
  const redis = new URL(place.redisUrl);
  const env = {
    ...environmentOf(place),
    REDIS_HOST: redis.hostname,
    REDIS_PORT: redis.port,
    ...(redis.password === "" ? {} : { REDISCLI_AUTH: decodeURIComponent(redis.password) }),
    PATH: path,
    PRODUCER_URL: shop.databaseUrl,
    SUBSCRIBER_URL: books,
  };
  return {
    place,
    shop,
    books,
    run: async (step) => {
      const tree = await startProcess({ command: "sh", args: ["-euc", step], env, cwd });
      const { code } = await tree.exited;
      expect({ code, said: tree.stderr() }).toEqual({ code: 0, said: "" });
    },
  };
}

test(
  "a fleet whose Postgres goes back to an earlier copy is whole again after the steps, and its subscriber is told the same",
  async () => {
    const { place, shop, books, run } = await freshSite();
    const [first, second, third] = storyInThreeParts() as [Events, Events, Events];
    const subscriber = await subscribe(place, books);
    await enqueueAll(shop, first);
    await forwardAll(shop);
    await workUntil(place, first);
    const copy = await backUp(place.databaseUrl);
    await enqueueAll(shop, second);
    await forwardAll(shop);
    await workUntil(place, [...first, ...second]);
    await eventually(
      async () => expect(await invoicesIn(books)).toEqual(await versionsIn(place.databaseUrl)),
      SOON,
    );
    // This part stands in line when it happens.
    await enqueueAll(shop, third);
    await forwardAll(shop);
    await subscriber.close();

    await restore(place.databaseUrl, copy);
    await ageHeldEvents(place);
    for (const step of [giveTime, emptyRedis, setBack, tellAgain]) await run(step);
    expect(await invoicesIn(books)).toEqual(await versionsIn(place.databaseUrl));
    const again = await subscribe(place, books);
    await run(publishAgain);
    await forwardAll(shop);
    const published = [...first, ...second, ...third];
    await workUntil(place, published);

    const verdict = await judge(place, published);
    expect(verdict.wrong).toEqual([]);
    expect(isGood(verdict)).toBe(true);
    await eventually(
      async () => expect(await invoicesIn(books)).toEqual(await versionsIn(place.databaseUrl)),
      SOON,
    );
    expect([...again.gaps]).toEqual([]);
  },
  LIMIT_MS,
);

test(
  "where Redis is kept although Postgres goes back, every event is decided and no order drifts",
  async () => {
    const { place, shop, run } = await freshSite();
    const [first, second, third] = storyInThreeParts() as [Events, Events, Events];
    await enqueueAll(shop, first);
    await forwardAll(shop);
    await workUntil(place, first);
    const copy = await backUp(place.databaseUrl);
    await enqueueAll(shop, second);
    await forwardAll(shop);
    await workUntil(place, [...first, ...second]);
    await enqueueAll(shop, third);
    await forwardAll(shop);

    await restore(place.databaseUrl, copy);
    for (const step of [giveTime, tellAgain, publishAgain]) await run(step);
    await forwardAll(shop);
    const published = [...first, ...second, ...third];
    await workUntil(place, published);
    expect((await judge(place, published)).lost).toBe(0);
    expect(await driftIn(place)).toEqual([]);
  },
  LIMIT_MS,
);

test(
  "a fleet whose Redis is emptied while events stand and updates wait is whole again after the steps, and its subscriber hears of every order",
  async () => {
    const { place, shop, books, run } = await freshSite();
    const [first, second, third] = storyInThreeParts() as [Events, Events, Events];
    const subscriber = await subscribe(place, books);
    await enqueueAll(shop, first);
    await forwardAll(shop);
    await workUntil(place, first);
    await eventually(
      async () => expect(await invoicesIn(books)).toEqual(await versionsIn(place.databaseUrl)),
      SOON,
    );
    await subscriber.close();
    // The updates of this part wait for the subscriber in Redis, and nowhere else.
    await enqueueAll(shop, second);
    await forwardAll(shop);
    await workUntil(place, [...first, ...second]);
    await enqueueAll(shop, third);
    await forwardAll(shop);
    const before = await versionsIn(place.databaseUrl);

    for (const step of [giveTime, emptyRedis, tellAgain]) await run(step);
    const again = await subscribe(place, books);
    await run(publishAgain);
    await forwardAll(shop);
    await nothingWaits(shop);
    const published = [...first, ...second, ...third];
    await workUntil(place, published);

    const verdict = await judge(place, published);
    expect(verdict.wrong).toEqual([]);
    expect(isGood(verdict)).toBe(true);
    const after = await versionsIn(place.databaseUrl);
    // What had been decided was recognised: it made no version a second time, and none of them moved.
    expect(after).toEqual(expect.arrayContaining([...before]));
    await eventually(async () => expect(lastOf(await invoicesIn(books))).toEqual(lastOf(after)), SOON);
    expect(again.gaps.size).toBeGreaterThan(0);
  },
  LIMIT_MS,
);

type Events = ReturnType<typeof storyInThreeParts>[number];

const SOON = { withinMs: 60_000, everyMs: 100 };

/** The copy is so old that whatever was held in it is past its deadline. */
async function ageHeldEvents({ databaseUrl }: Place): Promise<void> {
  const { rowCount } = await withClient(databaseUrl, async (client) =>
    client.query(
      `update order_events set deferred_until = now() - interval '1 hour'
       where outcome = 'deferred' and deferred_until is not null`,
    ),
  );
  expect(rowCount).toBeGreaterThan(0);
}

function lastOf(
  told: readonly { readonly lcid: string; readonly version: number }[],
): Readonly<Record<string, number>> {
  // Versions rise within an order, so the last one stays.
  return Object.fromEntries(told.map(({ lcid, version }) => [lcid, version]));
}
