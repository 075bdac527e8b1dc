import type { Redis } from "ioredis";

/** What Redis did for one command, those inside of scripts included; a script's own time holds that of its commands. */
export interface CommandTime {
  readonly command: string;
  readonly calls: number;
  readonly totalUs: number;
}

export async function forgetCommandTimes(redis: Redis): Promise<void> {
  await redis.config("RESETSTAT");
}

/** The largest sum of time first. */
export async function commandTimes(redis: Redis): Promise<readonly CommandTime[]> {
  return readCommandStats(await redis.info("commandstats"));
}

/** Reads lines such as `cmdstat_config|get:calls=3,usec=50,…`. */
export function readCommandStats(text: string): readonly CommandTime[] {
  return [...text.matchAll(/^cmdstat_(.+):calls=(\d+),usec=(\d+)/gmu)]
    .map(([, command = "", calls, us]) => ({ command, calls: Number(calls), totalUs: Number(us) }))
    .toSorted((left, right) => right.totalUs - left.totalUs);
}
