import { createHash, randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { createOrderStore, migrate } from "@junban/order-store";
import { identityOf, referenceOf } from "@junban/order-stories";
import { derive, fold, interpret, type OrderEvent } from "@junban/orders";
import { startPostgres, startRedis } from "@junban/sandbox";
import { migrateUpstream } from "@junban/upstream-outbox";
import type pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { eventually, scriptFolder } from "../support/index.ts";
import { KeptAlive } from "./kept-alive.ts";
import { commitStory, ordersOf, poolOf, postStory, publishedStories } from "./producers.ts";
import type { Event } from "./story.ts";

/** Servers of its own, since they are killed: what everybody shares stays as it is. */
interface Places {
  readonly upstreamUrl: string;
  readonly fleetUrl: string;
  readonly downstreamUrl: string;
  readonly redisUrl: string;
  readonly servers: readonly Struck[];
}

/** Whatever can be killed and comes back. */
interface Struck {
  readonly name: string;
  killAndRestart(): Promise<void>;
}

const LIMIT_MS = 180_000;
const AWAY_MS = 1_000;
const SHORT_LEASE = {
  JUNBAN_LEASE_MS: "2000",
  JUNBAN_STATEMENT_TIMEOUT_MS: "1500",
  JUNBAN_LOCK_TIMEOUT_MS: "1000",
  JUNBAN_IDLE_TX_TIMEOUT_MS: "1500",
  JUNBAN_WAIT_MS: "300",
  JUNBAN_POLL_MS: "100",
};

test(
  "what producers committed or were told is published arrives in a subscriber's table, whole, once and in order, while every process and every server on the way is killed and started again",
  async () => {
    const places = await freshPlaces();
    const token = randomBytes(32).toString("base64url");
    const sdk = { folder: await scriptFolder(), lcids: ordersOf("SDK") };
    const crew = crewOf(places, { token, sdk });
    onTestFinished(async () => {
      await Promise.all(crew.map(async (member) => member.stop()));
    });
    const [producer, ...others] = crew.toReversed();
    const gateway = others.find(({ name }) => name === "gateway");
    if (producer === undefined || gateway === undefined) throw new Error("nobody to publish");
    // The producer last: a name sees what comes after its first start.
    await Promise.all(others.map(async (member) => member.start()));
    await producer.start();

    const over = new AbortController();
    const isOver = (): boolean => over.signal.aborted;
    const [committed, posted] = await Promise.all([
      Promise.all(ordersOf("UP").map(async (lcid) => commitStory(places.upstreamUrl, { lcid, isOver }))),
      Promise.all(ordersOf("GATE").map(async (lcid) => postStory(gateway, { lcid, token, isOver }))),
      strikeInTurn([...pairsOf(crew), ...places.servers.map((server) => [server])]).finally(() =>
        over.abort(),
      ),
    ]);
    const stories = [...committed, ...posted, ...(await publishedStories(producer, sdk))];

    const journal = poolOf(places.downstreamUrl);
    await eventually(async () => expect(await lengthsIn(journal)).toEqual(lengthsOf(stories)), {
      withinMs: 60_000,
      everyMs: 100,
    });
    for (const story of stories) await expectTold(journal, story);
    await expectSound(places);
    const killed = { code: null, signal: "SIGKILL" };
    for (const { name, ends } of crew) {
      // Nobody ends because a server does; only the producer has an end of its own.
      const own = name === producer.name ? [{ code: 0, signal: null }] : [];
      expect({ name, ends }).toEqual({ name, ends: [killed, ...own] });
    }
  },
  LIMIT_MS,
);

async function freshPlaces(): Promise<Places> {
  const [fleet, others, redis] = await Promise.all([
    startPostgres({ fast: true }),
    startPostgres({ fast: true }),
    // Only a Redis that writes before it answers has, after a SIGKILL, all that it acknowledged; and only that is promised.
    startRedis({ settings: { appendfsync: "always" } }),
  ]);
  const servers = [
    { name: "the fleet's Postgres", server: fleet },
    { name: "the others' Postgres", server: others },
    { name: "Redis", server: redis },
  ];
  onTestFinished(async () => {
    await Promise.all(servers.map(async ({ server }) => server.stop()));
  });
  const [fleetUrl, upstreamUrl, downstreamUrl] = await Promise.all([
    fleet.createDatabase(),
    others.createDatabase(),
    others.createDatabase(),
  ]);
  await migrate({ databaseUrl: fleetUrl });
  await migrateUpstream({ databaseUrl: upstreamUrl });
  await poolOf(downstreamUrl).query(
    `create table journal (lcid text, version bigint, source text, event_id text, order_then jsonb,
       primary key (lcid, version), unique (source, event_id))`,
  );
  const strike = async ({ server }: (typeof servers)[number]): Promise<void> => {
    await server.kill();
    await server.restart({ awayMs: AWAY_MS });
  };
  return {
    fleetUrl,
    upstreamUrl,
    downstreamUrl,
    redisUrl: redis.url,
    servers: servers.map((each) => ({ name: each.name, killAndRestart: async () => strike(each) })),
  };
}

function crewOf(
  { upstreamUrl, fleetUrl, downstreamUrl, redisUrl }: Places,
  { token, sdk }: { token: string; sdk: { readonly folder: string; readonly lcids: readonly string[] } },
): KeptAlive[] {
  const common = { REDIS_URL: redisUrl, ...SHORT_LEASE };
  const sha256 = createHash("sha256").update(token).digest("hex");
  const member = (
    name: string,
    program: string,
    runsWhen: string,
    env: Readonly<Record<string, string>>,
  ): KeptAlive => new KeptAlive({ name, program, runsWhen, env: { ...common, ...env } });
  const worker = (name: string): KeptAlive =>
    member(name, "apps/worker/src/main.ts", "the worker serves", { DATABASE_URL: fleetUrl });
  const consumer = (name: string): KeptAlive =>
    member(name, "test/journey/consume.process.ts", "the consumer runs", { DATABASE_URL: downstreamUrl });
  return [
    consumer("consumer 1"),
    worker("worker 1"),
    consumer("consumer 2"),
    worker("worker 2"),
    member("relay", "apps/relay/src/main.ts", "the relay runs", { DATABASE_URL: fleetUrl }),
    member("forwarder", "apps/forwarder/src/main.ts", "the forwarder runs", { DATABASE_URL: upstreamUrl }),
    member("gateway", "apps/gateway/src/main.ts", "the gateway serves", {
      JUNBAN_GATEWAY_HTTP_PORT: "0",
      JUNBAN_GATEWAY_TOKENS: JSON.stringify([{ name: "lab", sha256, sources: ["/lab"] }]),
    }),
    member("producer", "test/journey/publish.process.ts", "the producer runs", {
      STORY_FOLDER: sdk.folder,
      STORY_LCIDS: sdk.lcids.join(","),
    }),
  ];
}

/** Neighbours, who are never two of a kind. */
function pairsOf(crew: readonly KeptAlive[]): (readonly KeptAlive[])[] {
  return crew.flatMap((member, index) =>
    index % 2 === 0 ? [[member, ...crew.slice(index + 1, index + 2)]] : [],
  );
}

/** One group after the other, while events flow. */
async function strikeInTurn(groups: readonly (readonly Struck[])[]): Promise<void> {
  for (const group of groups) {
    await Promise.all(group.map(async (struck) => struck.killAndRestart()));
    // What it did is felt, and got over, by events that come now.
    await pause(AWAY_MS);
  }
}

interface Entry {
  readonly version: number;
  readonly event_id: string;
  readonly order_then: object;
}

/** How many versions of each order the subscriber was shown. */
async function lengthsIn(journal: pg.Pool): Promise<Readonly<Record<string, number>>> {
  const { rows } = await journal.query<{ lcid: string; versions: number }>(
    "select lcid, count(*)::int as versions from journal group by lcid",
  );
  return Object.fromEntries(rows.map(({ lcid, versions }) => [lcid, versions]));
}

function lengthsOf(stories: readonly Event[][]): Readonly<Record<string, number>> {
  return Object.fromEntries(stories.map((story) => [story[0]!.lcid, story.length]));
}

async function told(journal: pg.Pool, lcid: string): Promise<readonly Entry[]> {
  const { rows } = await journal.query<Entry>(
    "select version::int, event_id, order_then from journal where lcid = $1 order by version",
    [lcid],
  );
  return rows;
}

/** Every event by its version, and the whole of the order as each version found it. */
async function expectTold(journal: pg.Pool, story: readonly Event[]): Promise<void> {
  const { lcid } = story[0]!;
  const entries = await told(journal, lcid);
  const applied = inOrderOfVersions(story);
  expect(entries).toEqual(
    applied.map(({ id }, index) => ({
      version: index + 1,
      event_id: id,
      order_then: derive(fold(lcid, applied.slice(0, index + 1).map(meaningOf))),
    })),
  );
  // By a reading of the domain that shares no code with the fleet's. It begins anew each time, so not at each version.
  for (const version of [1, 2, 3, 4, 5, 6, 7, story.length]) {
    expect(entries[version - 1]?.order_then).toEqual(readOrder(applied.slice(0, version)));
  }
}

/** What was held applies with what it was held for, and behind it. */
function inOrderOfVersions(story: readonly Event[]): Event[] {
  const events = new Map(story.map((event) => [identityOf(event), event]));
  return referenceOf(story)
    .get(story[0]!.lcid)!
    .applied.map((identity) => events.get(identity)!);
}

function meaningOf(event: Event): OrderEvent {
  const meaning = interpret(event);
  if (meaning.kind !== "known") throw new Error(`${event.id} is ${meaning.kind}`);
  return meaning.event;
}

function readOrder(applied: readonly Event[]): object {
  const order = referenceOf(applied).get(applied[0]!.lcid)!;
  return {
    status: order.status,
    paymentStatus: order.paymentStatus,
    fulfilmentStatus: order.fulfilmentStatus,
    payableMinor: order.payableMinor,
    refundDueMinor: order.refundDueMinor,
    voidDueMinor: order.voidDueMinor,
    releaseDue: order.releaseDue,
    openMinor: order.authorizedMinor - order.capturedMinor - order.voidedMinor,
  };
}

async function expectSound({ fleetUrl }: Places): Promise<void> {
  const store = createOrderStore({ databaseUrl: fleetUrl, poolSize: 1, worker: "test" });
  try {
    for await (const { differences } of store.audit()) expect(differences).toEqual([]);
    expect(await store.summary()).toMatchObject({
      held: 0,
      halted: 0,
      outboxUnpublished: 0,
      outboxParked: 0,
    });
  } finally {
    await store.close();
  }
}
