import { parseArgs } from "node:util";
import { randomSeed } from "../support/exploration.ts";

export interface ExploreOptions {
  readonly minutes: number;
  /** Leads to the same schedules again, slice by slice. */
  readonly seed: number;
  /** Names of explorations; empty for all. */
  readonly only: readonly string[];
  /** Present when one known schedule is to be tried again. */
  readonly path: string | null;
  readonly json: boolean;
}

export function usage(names: readonly string[]): string {
  return `npm run explore -- --minutes N [options]
  Tries random schedules: of steps on a lane in a real Redis, and of real workers over lanes and a store in memory.
  --minutes N     how long (0.01 to 1440, default 10); every exploration gets a few schedules in any case
  --seed N        0 to 2147483647; the same seed tries the same schedules in the same order (default: a random one)
  --only NAME     one of ${names.join(", ")},
                  or interleavings for all but lane; may be given more than once (default: everything)
  --path PATH     with the --seed and the --only of a finding: its one schedule
  --json          one line of JSON at the end of standard output; everything else goes to standard error
Exit codes: 0 nothing was found; 1 a schedule breaks a promise; 2 bad usage; 3 Redis could not be started; 130 Ctrl-C.
`;
}

const OPTIONS = {
  minutes: { type: "string", default: "10" },
  seed: { type: "string" },
  only: { type: "string", multiple: true, default: [] as string[] },
  path: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

/** @throws {TypeError} for an unknown option or a value out of its range. */
export function readOptions(args: readonly string[], names: readonly string[]): ExploreOptions {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const minutes = numberOf(values.minutes, "--minutes", { min: 0.01, max: 1440 });
  const seed =
    values.seed === undefined ? randomSeed() : numberOf(values.seed, "--seed", { min: 0, max: 2 ** 31 - 1 });
  if (!Number.isInteger(seed)) throw new TypeError("--seed is a whole number");
  const only = values.only.flatMap((name) => {
    if (name === "interleavings") return names.filter((other) => other !== "lane");
    if (!names.includes(name)) throw new TypeError(`--only: there is no ${name}`);
    return [name];
  });
  const path = values.path ?? null;
  if (path !== null && !/^\d+(:\d+)*$/.test(path)) throw new TypeError("--path is digits and colons");
  if (path !== null && (only.length !== 1 || values.seed === undefined)) {
    throw new TypeError("--path needs --seed and one --only");
  }
  if (path !== null && values.json) {
    throw new TypeError("--json is for explorations, not for the --path of a finding");
  }
  return { minutes, seed, only, path, json: values.json };
}

function numberOf(text: string, name: string, { min, max }: { min: number; max: number }): number {
  const value = /^\d{1,10}(\.\d{1,4})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new TypeError(`${name} is a number from ${min} to ${max}, not "${text}"`);
}
