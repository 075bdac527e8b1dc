import { fileURLToPath } from "node:url";
import { startProxy, type TcpProxy } from "@junban/sandbox";
import { freshKey, GatewayDoor } from "./gateway-door.ts";
import { Journal } from "./journal.ts";
import { Troop } from "./troop.ts";

const RELAY = fileURLToPath(new URL("../../../relay/dist/main.js", import.meta.url));
const GATEWAY = fileURLToPath(new URL("../../../gateway/dist/main.js", import.meta.url));
const RELAYS = 2;
const GATEWAYS = 2;

/** Where the fleet of a run lives. */
export interface EdgesOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly prefix: string;
  /** Undone at the end of the run, the last one first. */
  readonly closings: (() => Promise<unknown>)[];
}

/** What was committed on its way out: relays behind a proxy of their own, and a subscriber. */
export interface NewsOut {
  readonly relays: Troop;
  readonly relaysRedis: TcpProxy;
  readonly journal: Journal;
}

/** The subscriber first: a name sees what comes after its first start. */
export async function openNewsOut({
  databaseUrl,
  redisUrl,
  prefix,
  closings,
}: EdgesOptions): Promise<NewsOut> {
  const journal = new Journal();
  closings.push(async () => journal.close());
  await journal.open({ redisUrl, prefix });
  const relaysRedis = await startProxy({ url: redisUrl });
  closings.push(async () => relaysRedis.close());
  const relays = new Troop({
    program: RELAY,
    env: { DATABASE_URL: databaseUrl, REDIS_URL: relaysRedis.url, JUNBAN_PREFIX: prefix },
    servesWhen: "the relay runs",
    size: RELAYS,
  });
  closings.push(async () => relays.stop());
  await relays.fill();
  return { relays, relaysRedis, journal };
}

/** Events on their way in over HTTP: gateways, and producers that know nothing else. */
export interface GatewayIn {
  readonly gateways: Troop;
  readonly doors: readonly GatewayDoor[];
}

export async function openGatewayIn(
  { redisUrl, prefix, closings }: Omit<EdgesOptions, "databaseUrl">,
  producers: number,
): Promise<GatewayIn> {
  const key = freshKey();
  const gateways = new Troop({
    program: GATEWAY,
    env: {
      REDIS_URL: redisUrl,
      JUNBAN_PREFIX: prefix,
      JUNBAN_GATEWAY_HTTP_PORT: "0",
      JUNBAN_GATEWAY_TOKENS: key.list,
      JUNBAN_GATEWAY_EVENTS_PER_MINUTE: "10000000",
    },
    servesWhen: "the gateway serves",
    size: GATEWAYS,
  });
  closings.push(async () => gateways.stop());
  await gateways.fill();
  return { gateways, doors: Array.from({ length: producers }, () => new GatewayDoor(gateways, key)) };
}
