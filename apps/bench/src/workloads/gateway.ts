import { createHash, randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createPublisher } from "@junban/event-queues";
import { trafficOf } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import { startProcess } from "@junban/sandbox";
import { unlessAborted } from "@junban/trial";
import { columns } from "../report/columns.ts";
import { duration, times, whole } from "../report/figures.ts";
import type { GatewayRow } from "../results.ts";
import { NODE_FLAGS } from "../rounds/alike.ts";
import { median, percentile } from "../rounds/statistics.ts";
import { ownOf, runOf } from "./measuring/own.ts";
import { inTurn, Rounds } from "./measuring/turns.ts";
import type { Stage, Workload } from "./workload.ts";

const GATEWAY = fileURLToPath(new URL("../../../gateway/dist/main.js", import.meta.url));
const ORDERS = 10_000;
const LANE_CAP = 10_000_000;
const STARTED_WITHIN_MS = 60_000;
const WARM_EVENTS = 2_000;

/** How events are put in: so many a call, so many calls under way. */
const WAYS = [
  { at: 1, calls: 32 },
  { at: 64, calls: 4 },
] as const;
type Way = (typeof WAYS)[number];

/** One way into Redis, for one round. */
interface Door {
  publish(events: readonly EventEnvelope[]): Promise<void>;
  close(): Promise<unknown>;
}

export interface GatewayOptions {
  /** Events that warm both doors up; default 2,000. */
  readonly warmUp?: number;
  /** The gateway's own program. */
  readonly script?: string;
}

/** How fast a producer puts events in over HTTP, beside a producer that has the publisher in its own process. Nobody works them off. */
export function gatewayOf({ warmUp = WARM_EVENTS, script = GATEWAY }: GatewayOptions): Workload<GatewayRow> {
  return {
    name: "gateway",
    what: "how fast one gateway takes events, and how soon it answers, beside the publisher in a producer's own process",
    defaultEvents: 8_000,
    run: async (stage) => {
      const results = await measure(stage, { warmUp, script });
      return runOf("gateway", stage, { results, ratios: ratiosOf(results) });
    },
    table: ({ results, ratios, rounds }) => [
      `gateway: events put in, and how long a call took, medians of ${rounds}`,
      ...columns([
        ["", "events a call", "events/s", "p50", "p99"],
        ...results.map((row) => [
          row.door,
          whole(row.at),
          whole(row.eventsPerSecond),
          duration(row.p50Ms),
          duration(row.p99Ms),
        ]),
      ]),
      ...Object.entries(ratios).map(([name, ratio]) => `gateway ÷ sdk, ${name}: ${times(ratio)}`),
    ],
  };
}

export const gateway: Workload<GatewayRow> = gatewayOf({});

async function measure(
  stage: Stage,
  { warmUp, script }: { warmUp: number; script: string },
): Promise<readonly GatewayRow[]> {
  const { signal, say } = stage;
  const taken = new Rounds<{ readonly rate: number; readonly p50Ms: number; readonly p99Ms: number }>();
  const doors = ["sdk", "gateway"] as const;
  for (let round = 0; round < stage.rounds; round += 1) {
    for (const name of inTurn(doors, round)) {
      const prefix = `gateway-${round}-${name}`;
      const door = name === "sdk" ? openSdk(stage, prefix) : await openGateway(stage, { prefix, script });
      try {
        await putIn(door, {
          way: WAYS[1],
          events: storiesOf(stage, { count: warmUp, name: "WARM" }),
          signal,
        });
        for (const way of inTurn(WAYS, round)) {
          const events = storiesOf(stage, { count: stage.events, name: `AT-${way.at}` });
          const one = await putIn(door, { way, events, signal });
          taken.add(`${name} ${way.at}`, one);
          say(
            `round ${round + 1}/${stage.rounds} ${name}, ${way.at} a call: ${whole(one.rate)} events/s, p99 ${duration(one.p99Ms)}`,
          );
        }
      } finally {
        await door.close();
      }
    }
  }
  return doors.flatMap((door) =>
    WAYS.map(({ at }) => {
      const rounds = taken.of(`${door} ${at}`);
      return {
        door,
        at,
        eventsPerSecond: median(rounds.map(({ rate }) => rate)),
        p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
        p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
      };
    }),
  );
}

function storiesOf(
  { seed }: Stage,
  { count, name }: { count: number; name: string },
): readonly EventEnvelope[] {
  return trafficOf({ orders: ORDERS, events: count, skew: "uniform", seed, lcidPrefix: `${name}-` });
}

async function putIn(
  door: Pick<Door, "publish">,
  { way, events, signal }: { way: Way; events: readonly EventEnvelope[]; signal: AbortSignal },
): Promise<{ readonly rate: number; readonly p50Ms: number; readonly p99Ms: number }> {
  const tookMs: number[] = [];
  let taken = 0;
  const startedMs = performance.now();
  const producers = Array.from({ length: way.calls }, async () => {
    while (taken < events.length) {
      signal.throwIfAborted();
      const some = events.slice(taken, taken + way.at);
      taken += some.length;
      const calledMs = performance.now();
      await door.publish(some);
      tookMs.push(performance.now() - calledMs);
    }
  });
  await Promise.all(producers);
  const rate = events.length / ((performance.now() - startedMs) / 1_000);
  return { rate, p50Ms: percentile(tookMs, 50), p99Ms: percentile(tookMs, 99) };
}

function openSdk({ sandbox }: Stage, prefix: string): Door {
  const publisher = createPublisher({ redis: sandbox.redis.url, prefix, laneCap: LANE_CAP });
  return {
    publish: async (events) => {
      const results = await publisher.publishAll(events);
      const refused = results.find((result) => result.kind === "refused");
      if (refused !== undefined) throw refused.error;
    },
    close: async () => publisher.close(),
  };
}

async function openGateway(
  stage: Stage,
  { prefix, script }: { prefix: string; script: string },
): Promise<Door> {
  const token = randomBytes(32).toString("base64url");
  const sha256 = createHash("sha256").update(token).digest("hex");
  const sources = ["/checkout", "/payments", "/service-desk", "/shop", "/warehouse"];
  const tree = await startProcess({
    command: process.execPath,
    args: [...NODE_FLAGS, script],
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      ...ownOf(stage).env,
      REDIS_URL: stage.sandbox.redis.url,
      JUNBAN_PREFIX: prefix,
      JUNBAN_HTTP_PORT: "0",
      JUNBAN_GATEWAY_HTTP_PORT: "0",
      JUNBAN_GATEWAY_EVENTS_PER_MINUTE: "10000000",
      JUNBAN_GATEWAY_TOKENS: JSON.stringify([{ name: "bench", sha256, sources }]),
    },
  });
  const line = await unlessAborted(
    tree.waitForLine("the gateway serves", { withinMs: STARTED_WITHIN_MS }),
    stage.signal,
  );
  const { port } = JSON.parse(line) as { port: number };
  const post = async (events: readonly EventEnvelope[]): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}/events`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type":
          events.length === 1 ? "application/cloudevents+json" : "application/cloudevents-batch+json",
      },
      body: JSON.stringify(events.length === 1 ? events[0] : events),
    });
    const text = await answer.text();
    if (answer.status === 202) return;
    throw new Error(`the gateway answered ${answer.status}: ${text.slice(0, 200)}`);
  };
  return { publish: post, close: async () => tree.stop({ graceMs: 3_000 }) };
}

function ratiosOf(rows: readonly GatewayRow[]): Readonly<Record<string, number>> {
  const rowOf = (door: GatewayRow["door"], at: number): GatewayRow | undefined =>
    rows.find((row) => row.door === door && row.at === at);
  return Object.fromEntries(
    WAYS.flatMap(({ at }) => {
      const [own, other] = [rowOf("gateway", at), rowOf("sdk", at)];
      if (own === undefined || other === undefined) return [];
      return [
        [`rate at ${at}`, own.eventsPerSecond / other.eventsPerSecond],
        [`p99 at ${at}`, own.p99Ms / other.p99Ms],
      ];
    }),
  );
}
