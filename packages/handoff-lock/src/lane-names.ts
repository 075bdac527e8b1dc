import { LaneNameError } from "./errors.ts";

/** The keys one lane consists of. The braces make one Cluster slot of them. */
export type LaneKey = "lock" | "wait" | "body" | "seat" | "done" | "tries";

const NAME = /^[0-9A-Za-z._:@/+=~-]{1,128}$/;

export function isLaneName(name: string): boolean {
  return NAME.test(name);
}

/** Braces would break the hash tag, spaces and line ends the tools people point at Redis. */
export function checkLaneName(lcid: string): void {
  if (typeof lcid !== "string" || !NAME.test(lcid)) throw new LaneNameError({ lcid });
}

export function laneKey(prefix: string, key: LaneKey, lcid: string): string {
  return `${prefix}:${key}:{${lcid}}`;
}

/** The pattern every lane key matches; others may match it too. */
export function lanePattern(prefix: string): string {
  return `${prefix}:????*:{*}`;
}

/** The lane a Redis key belongs to, or null when it is no lane key. */
export function laneOfKey(prefix: string, key: string): string | null {
  if (!key.startsWith(`${prefix}:`) || !key.endsWith("}")) return null;
  const found = /^(?:lock|wait|body|seat|done|tries):\{([^{}]+)\}$/.exec(key.slice(prefix.length + 1));
  const name = found?.[1];
  return name !== undefined && isLaneName(name) ? name : null;
}
