import assert from "node:assert/strict";
import type { LanesOptions } from "./contract.ts";
import { isLaneName } from "./lane-names.ts";

/** The options of `createLanes` with every default filled in and every limit checked. */
export interface Settings {
  readonly prefix: string;
  readonly leaseMs: number;
  readonly batch: number;
  readonly cap: number;
  readonly laneTtlMs: number;
  readonly waitMs: number;
  readonly pollMs: number;
  readonly wordMs: number;
  readonly commandTimeoutMs: number;
}

/** Most requests one step settles or hands out: it keeps every script well inside Lua's limit of arguments. */
export const MAX_BATCH = 1000;

export function readSettings(options: LanesOptions): Settings {
  const leaseMs = options.leaseMs ?? 10_000;
  const settings: Settings = {
    prefix: options.prefix ?? "junban",
    leaseMs,
    batch: options.batch ?? 256,
    cap: options.cap ?? 10_000,
    laneTtlMs: options.laneTtlMs ?? 604_800_000,
    waitMs: options.waitMs ?? 1000,
    pollMs: options.pollMs ?? 250,
    wordMs: options.wordMs ?? Math.ceil(leaseMs / 2),
    commandTimeoutMs: options.commandTimeoutMs ?? Math.ceil(leaseMs / 3),
  };
  assert(isLaneName(settings.prefix), "prefix: 1 to 128 characters out of those of a lane name");
  assertWithin("leaseMs", leaseMs, { least: 100, most: 300_000 });
  assertWithin("batch", settings.batch, { least: 1, most: MAX_BATCH });
  assertWithin("cap", settings.cap, { least: 1, most: 10_000_000 });
  for (const name of ["laneTtlMs", "waitMs", "pollMs", "wordMs", "commandTimeoutMs"] as const) {
    assertWithin(name, settings[name], { least: 1, most: Number.MAX_SAFE_INTEGER });
  }
  assert(!options.redis.options.keyPrefix, "a client with keyPrefix would move keys but not channels");
  return settings;
}

function assertWithin(name: string, value: number, { least, most }: { least: number; most: number }): void {
  assert(
    Number.isSafeInteger(value) && value >= least && value <= most,
    `${name}: a whole number from ${least} to ${most}`,
  );
}
