import { setTimeout as pause } from "node:timers/promises";
import type { NewsOut } from "../edges/edges.ts";
import { ask, type Member } from "../edges/troop.ts";
import type { Stage } from "../stage.ts";
import { CALM_MS, type Fault, SERVICE_BOUND_MS } from "./fault.ts";

const AWAY_MS = 3_000;
const NEWS_WITHIN_MS = 40_000;
const LOOK_EVERY_MS = 50;

export const relayKilled: Fault = {
  name: "relay-killed",
  does: "kills the relay that passes order updates on, while another one waits (SIGKILL)",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 2,
  calmMs: CALM_MS,
  edges: ["news out"],
  strike: async (stage, { signal }) => {
    const { relays, journal } = newsOutOf(stage);
    const leader = await leaderOf(newsOutOf(stage), signal);
    await relays.kill(leader);
    const sinceMs = performance.now();
    await leaderOf(newsOutOf(stage), signal);
    await newsGoOn(stage, signal);
    return {
      says: `the relay that led was killed, and ${journal.noted} updates have come by now`,
      sinceMs,
      aftercare: async () => relays.fill(),
    };
  },
};

export const sinkAway: Fault = {
  name: "sink-away",
  does: "lets all packets between relays and Redis vanish for three seconds, while the fleet goes on",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: CALM_MS,
  edges: ["news out"],
  strike: async (stage, { signal }) => {
    const { relaysRedis } = newsOutOf(stage);
    relaysRedis.drop();
    await pause(AWAY_MS, undefined, { signal });
    relaysRedis.heal();
    const sinceMs = performance.now();
    await newsGoOn(stage, signal);
    return { says: `relays heard nothing of Redis for ${AWAY_MS / 1_000} s`, sinceMs };
  },
};

export const gatewayKilled: Fault = {
  name: "gateway-killed",
  does: "kills a gateway in the middle of its requests, while every producer sends over HTTP (SIGKILL)",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 2,
  calmMs: CALM_MS,
  edges: ["gateway in"],
  strike: async ({ gatewayIn }, { random }) => {
    if (gatewayIn === null) throw new TypeError("this fault needs gateways");
    const { gateways } = gatewayIn;
    const number = random.whole(0, gateways.members.length - 1);
    const member = gateways.members[number];
    if (member !== undefined) await gateways.kill(member);
    return {
      says: `gateway ${number + 1} was killed`,
      sinceMs: performance.now(),
      aftercare: async () => gateways.fill(),
    };
  },
};

function newsOutOf({ newsOut }: Stage): NewsOut {
  if (newsOut === null) throw new TypeError("this fault needs relays and a subscriber");
  return newsOut;
}

async function newsGoOn(stage: Stage, signal: AbortSignal): Promise<void> {
  const goesOn = await newsOutOf(stage).journal.another({ withinMs: NEWS_WITHIN_MS, signal });
  if (!goesOn) stage.wrong("no order update came any more");
}

async function leaderOf({ relays }: NewsOut, signal: AbortSignal): Promise<Member> {
  for (;;) {
    for (const member of relays.members) if (await leads(member)) return member;
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
}

async function leads(relay: Member): Promise<boolean> {
  const answer = await ask(relay, "/readyz");
  return answer !== null && (JSON.parse(answer) as { leads?: boolean }).leads === true;
}
