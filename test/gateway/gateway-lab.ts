import { createHash, randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createLanes } from "@junban/handoff-lock";
import { startProcess } from "@junban/sandbox";
import type { ProcessTree } from "@junban/sandbox";
import { Redis } from "ioredis";
import { onTestFinished } from "vitest";
import { freshRedis } from "../support/index.ts";
import { exchange } from "./exchange.ts";
import type { Answer, Question } from "./exchange.ts";

/** Where a gateway puts its events. */
export interface Place {
  readonly redisUrl: string;
  readonly prefix: string;
}

export function freshPlace(): Place {
  const { url, prefix } = freshRedis();
  return { redisUrl: url, prefix };
}

/** A token for `/shop` and `/payments`, and its list. */
export interface Key {
  readonly token: string;
  readonly list: string;
}

export function freshKey(sources: readonly string[] = ["/shop", "/payments"]): Key {
  const token = randomBytes(32).toString("base64url");
  const sha256 = createHash("sha256").update(token).digest("hex");
  return { token, list: JSON.stringify([{ name: "lab", sha256, sources }]) };
}

export interface Gateway {
  readonly tree: ProcessTree;
  readonly port: number;
  readonly token: string;
  /** Asks with the token unless headers say otherwise; each answer is held against the OpenAPI document. */
  ask(question: Question): Promise<Answer>;
  /** A batch in one request. */
  post(events: readonly unknown[]): Promise<Answer>;
  health(path: string): Promise<{ readonly status: number; readonly text: string }>;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = fileURLToPath(new URL("../../apps/gateway/src/main.ts", import.meta.url));

export type Environment = Readonly<Record<string, string>>;

/** Starts the gateway's own program, without waiting for anything. */
export async function launchGateway(env: Environment): Promise<ProcessTree> {
  return startProcess({
    command: process.execPath,
    args: ["--import", "tsx", "--conditions", "@junban/source", PROGRAM],
    env: { PATH: process.env["PATH"], JUNBAN_HTTP_PORT: "0", JUNBAN_GATEWAY_HTTP_PORT: "0", ...env },
    cwd: ROOT,
  });
}

/** Starts a gateway and waits until it serves. Whoever starts it ends it. */
export async function openGateway(place: Place, env: Environment = {}, key = freshKey()): Promise<Gateway> {
  const tree = await launchGateway({
    REDIS_URL: place.redisUrl,
    JUNBAN_PREFIX: place.prefix,
    JUNBAN_GATEWAY_TOKENS: key.list,
    ...env,
  });
  const line = await tree.waitForLine("the gateway serves", { withinMs: 60_000 });
  const { port, httpPort } = JSON.parse(line) as { port: number; httpPort: number };
  const { token } = key;
  const ask = async (question: Question): Promise<Answer> =>
    exchange(port, { ...question, headers: { authorization: `Bearer ${token}`, ...question.headers } });
  return {
    tree,
    port,
    token,
    ask,
    post: async (events) =>
      ask({
        headers: { "content-type": "application/cloudevents-batch+json" },
        body: JSON.stringify(events),
      }),
    health: async (path) => {
      const response = await fetch(`http://127.0.0.1:${httpPort}${path}`);
      return { status: response.status, text: await response.text() };
    },
  };
}

/** The same, ended with the test. */
export async function startGateway(place: Place, env: Environment = {}, key = freshKey()): Promise<Gateway> {
  const gateway = await openGateway(place, env, key);
  onTestFinished(async () => {
    await gateway.tree.stop({ signal: "SIGKILL" });
  });
  return gateway;
}

export interface Event {
  readonly specversion: string;
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly lcid: string;
  readonly data: object;
  readonly [attribute: string]: unknown;
}

export function eventOf(part: Partial<Event> = {}): Event {
  return {
    specversion: "1.0",
    id: randomBytes(6).toString("hex"),
    source: "/payments",
    type: "payment.authorized",
    lcid: "A-1",
    data: { authorizationId: "a-1", amount: 1200, currency: "JPY" },
    ...part,
  };
}

export function eventsOf(lcid: string, count: number, from = 0): Event[] {
  return Array.from({ length: count }, (_, number) => eventOf({ lcid, id: `${lcid}-${from + number}` }));
}

/** The events that stand in an order's line, oldest first. */
export async function standingIn(place: Place, lcid: string): Promise<Event[]> {
  const redis = new Redis(place.redisUrl, { maxRetriesPerRequest: null });
  redis.on("error", () => undefined);
  const lanes = createLanes({ redis, prefix: place.prefix, batch: 1_000 });
  try {
    const entry = await lanes.enter(lcid);
    if (entry.kind !== "turn") throw new Error(`somebody else holds ${lcid}`);
    const events = entry.turn.requests.map(({ body }) => JSON.parse(body) as Event);
    await entry.turn.leave();
    return events;
  } finally {
    await lanes.close();
    redis.disconnect();
  }
}

export function idsOf(events: readonly Event[]): string[] {
  return events.map(({ id }) => id);
}
