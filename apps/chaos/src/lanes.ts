import type { LaneReport } from "@junban/handoff-lock";
import type { Stage } from "./stage.ts";

type Place = Pick<Stage, "redis" | "prefix" | "lanes">;

/** The kinds of keys that make up a lane, as docs/architecture.md lists them. */
const LANE_KEYS = ["lock", "wait", "body", "seat", "done", "tries"] as const;

const KEYS_A_PAGE = 1_000;

export function lockKey({ prefix }: Pick<Place, "prefix">, lcid: string): string {
  return `${prefix}:lock:{${lcid}}`;
}

export function keysOfLane({ prefix }: Pick<Place, "prefix">, lcid: string): readonly string[] {
  return LANE_KEYS.map((kind) => `${prefix}:${kind}:{${lcid}}`);
}

/** Lanes that are held at this moment. */
export async function locksHeld({ redis, prefix }: Place): Promise<readonly string[]> {
  const lcids: string[] = [];
  for await (const page of redis.scanStream({ match: `${prefix}:lock:*`, count: KEYS_A_PAGE })) {
    lcids.push(...(page as string[]).map((key) => key.slice(`${prefix}:lock:{`.length, -1)));
  }
  return lcids;
}

/** The lanes in which requests stand at this moment. */
export async function standingLanes({ lanes }: Pick<Place, "lanes">): Promise<readonly string[]> {
  const lcids: string[] = [];
  for await (const page of lanes.scan()) {
    const reports = await Promise.all(page.map(async (lcid): Promise<LaneReport> => lanes.inspect(lcid)));
    for (const { lcid, depth } of reports) if (depth > 0) lcids.push(lcid);
  }
  return lcids;
}

/** The keys of the requests in a lane, the next one first. */
export async function requestKeys({ redis, prefix }: Place, lcid: string): Promise<readonly string[]> {
  return redis.lrange(`${prefix}:wait:{${lcid}}`, 0, -1);
}
