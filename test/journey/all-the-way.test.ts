import { createHash, randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { createPublisher } from "@junban/event-queues";
import { createOrderStore } from "@junban/order-store";
import { Random, referenceOf } from "@junban/order-stories";
import { enqueueEvent, migrateUpstream } from "@junban/upstream-outbox";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { eventually, freshDatabase, freshRedis } from "../support/index.ts";
import { KeptAlive } from "./kept-alive.ts";

/** Three places: a producer's database, the fleet's with its Redis, and a subscriber's database. */
interface Places {
  readonly upstreamUrl: string;
  readonly fleetUrl: string;
  readonly downstreamUrl: string;
  readonly redisUrl: string;
  readonly prefix: string;
}

type Event = {
  readonly specversion: "1.0";
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly lcid: string;
  readonly data: object;
};

const ORDERS_A_DOOR = 2;
const EVENTS_AN_ORDER = 25;
const KILLS = 14;
const LIMIT_MS = 300_000;
const SHORT_LEASE = {
  JUNBAN_LEASE_MS: "2000",
  JUNBAN_STATEMENT_TIMEOUT_MS: "1500",
  JUNBAN_LOCK_TIMEOUT_MS: "1000",
  JUNBAN_IDLE_TX_TIMEOUT_MS: "1500",
  JUNBAN_WAIT_MS: "300",
  JUNBAN_POLL_MS: "100",
};

test(
  "what producers committed or were told is published arrives in a subscriber's table, whole, once and in order, while every process on the way is killed and started again",
  async () => {
    const places = await freshPlaces();
    const token = randomBytes(32).toString("base64url");
    const crew = crewOf(places, token);
    onTestFinished(async () => {
      await Promise.all(crew.map(async (member) => member.stop()));
    });
    // The subscriber first: a name sees what comes after its first start.
    for (const member of crew) await member.start();
    const doors = { upstream: storiesOf("UP"), gateway: storiesOf("GATE"), sdk: storiesOf("SDK") };
    const stories = Object.values(doors).flat();

    const gateway = crew.find(({ name }) => name === "gateway")!;
    const killing = killInTurn(crew, KILLS);
    await Promise.all([
      ...doors.upstream.map(async (story) => commitUpstream(places, story)),
      ...doors.gateway.map(async (story) => postAll(() => gateway.line, { token, story })),
      ...doors.sdk.map(async (story) => publishAll(places, story)),
    ]);
    await killing;

    const journal = poolOf(places.downstreamUrl);
    await eventually(
      async () => (await journal.query("select 1 from journal")).rowCount === stories.flat().length,
      { withinMs: 120_000 },
    );
    for (const story of stories) expect(await told(journal, story[0]!.lcid)).toEqual(foldOf(story));
    expect(crew.every(({ kills }) => kills > 0)).toBe(true);
    await expectSound(places);
  },
  LIMIT_MS,
);

async function freshPlaces(): Promise<Places> {
  const [upstreamUrl, fleetUrl, downstreamUrl] = [
    await freshDatabase(),
    await freshDatabase(),
    await freshDatabase(),
  ];
  await migrateUpstream({ databaseUrl: upstreamUrl });
  await poolOf(downstreamUrl).query(
    `create table journal (lcid text, version bigint, source text, event_id text, status text, payment_status text,
       primary key (lcid, version), unique (source, event_id))`,
  );
  const { url: redisUrl, prefix } = freshRedis();
  return { upstreamUrl, fleetUrl, downstreamUrl, redisUrl, prefix };
}

function crewOf(
  { upstreamUrl, fleetUrl, downstreamUrl, redisUrl, prefix }: Places,
  token: string,
): KeptAlive[] {
  const common = { REDIS_URL: redisUrl, JUNBAN_PREFIX: prefix, ...SHORT_LEASE };
  const sha256 = createHash("sha256").update(token).digest("hex");
  const member = (
    name: string,
    program: string,
    runsWhen: string,
    env: Readonly<Record<string, string>>,
  ): KeptAlive => new KeptAlive({ name, program, runsWhen, env: { ...common, ...env } });
  return [
    member("consumer 1", "test/journey/consume.process.ts", "the consumer runs", {
      DATABASE_URL: downstreamUrl,
    }),
    member("consumer 2", "test/journey/consume.process.ts", "the consumer runs", {
      DATABASE_URL: downstreamUrl,
    }),
    member("worker 1", "apps/worker/src/main.ts", "the worker serves", { DATABASE_URL: fleetUrl }),
    member("worker 2", "apps/worker/src/main.ts", "the worker serves", { DATABASE_URL: fleetUrl }),
    member("relay", "apps/relay/src/main.ts", "the relay runs", { DATABASE_URL: fleetUrl }),
    member("forwarder", "apps/forwarder/src/main.ts", "the forwarder runs", { DATABASE_URL: upstreamUrl }),
    member("gateway", "apps/gateway/src/main.ts", "the gateway serves", {
      JUNBAN_GATEWAY_HTTP_PORT: "0",
      JUNBAN_GATEWAY_TOKENS: JSON.stringify([{ name: "lab", sha256, sources: ["/lab"] }]),
    }),
  ];
}

/** Each at least once, in an order that a seed would repeat, a moment apart. */
async function killInTurn(crew: readonly KeptAlive[], times: number): Promise<void> {
  const random = new Random(1);
  for (let kill = 0; kill < times; kill += 1) {
    await pause(300);
    const member = kill < crew.length ? crew[kill] : crew[random.whole(0, crew.length - 1)];
    await member?.killAndRestart();
  }
}

/** Orders that are placed and then authorized bit by bit, so that every event applies and each changes the version. */
function storiesOf(door: string): Event[][] {
  return Array.from({ length: ORDERS_A_DOOR }, (_, order) => {
    const lcid = `${door}-${order}-${randomBytes(3).toString("hex")}`;
    return Array.from({ length: EVENTS_AN_ORDER }, (_event, number) => eventOf(lcid, number));
  });
}

function eventOf(lcid: string, number: number): Event {
  const lines = [{ lineId: "L1", sku: "S1", quantity: 2, unitAmount: 500 }];
  const content =
    number === 0
      ? { type: "order.placed", data: { currency: "JPY", adjustment: 0, shipGate: "captured", lines } }
      : {
          type: "payment.authorized",
          data: { authorizationId: `a-${number}`, amount: 10, currency: "JPY" },
        };
  return { specversion: "1.0", id: `${lcid}-${number}`, source: "/lab", lcid, ...content };
}

/** Each event in a transaction of its own, behind one that takes back what it wrote. */
async function commitUpstream({ upstreamUrl }: Places, story: readonly Event[]): Promise<void> {
  const pool = poolOf(upstreamUrl);
  for (const event of story) {
    for (const { id, end } of [
      { id: `${event.id}-undone`, end: "rollback" },
      { id: event.id, end: "commit" },
    ]) {
      const client = await pool.connect();
      await client.query("begin");
      await enqueueEvent(client, { ...event, id });
      await client.query(end);
      client.release();
    }
  }
}

/** Again until it is answered 202, as a client does that lost an answer. */
async function postAll(
  lineOfGateway: () => string,
  { token, story }: { token: string; story: readonly Event[] },
): Promise<void> {
  for (const event of story) {
    await eventually(
      async () => {
        const { port } = JSON.parse(lineOfGateway()) as { port: number };
        const answer = await fetch(`http://127.0.0.1:${port}/events`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/cloudevents+json" },
          body: JSON.stringify(event),
        }).catch(() => null);
        return answer?.status === 202;
      },
      { withinMs: 60_000 },
    );
  }
}

async function publishAll({ redisUrl, prefix }: Places, story: readonly Event[]): Promise<void> {
  const publisher = createPublisher({ redis: redisUrl, prefix });
  try {
    for (const event of story) await publisher.publish(event);
  } finally {
    await publisher.close();
  }
}

interface Entry {
  readonly version: number;
  readonly event_id: string;
  readonly status: string;
  readonly payment_status: string;
}

async function told(journal: pg.Pool, lcid: string): Promise<readonly Entry[]> {
  const { rows } = await journal.query<Entry>(
    "select version::int, event_id, status, payment_status from journal where lcid = $1 order by version",
    [lcid],
  );
  return rows;
}

/** What must come of a story, by a reading of the domain that shares no code with the fleet's. */
function foldOf(story: readonly Event[]): Entry[] {
  return story.map(({ id, lcid }, index) => {
    const { version, status, paymentStatus } = referenceOf(story.slice(0, index + 1)).get(lcid)!;
    return { version, event_id: id, status, payment_status: paymentStatus };
  });
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

function poolOf(databaseUrl: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
  pool.on("error", () => undefined);
  onTestFinished(async () => pool.end());
  return pool;
}
