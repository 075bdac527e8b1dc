import { parseArgs } from "node:util";
import type { Asked } from "./ending.ts";
import type { Fault } from "./faults/fault.ts";
import { FAULTS, mixed } from "./faults/index.ts";

export interface ChaosOptions {
  /** Each is run by itself, in this order. */
  readonly faults: readonly Fault[];
  readonly seconds: number;
  readonly seed: number;
  readonly json: boolean;
}

export const HELP = `npm run chaos -- --fault NAME [--seconds N] [--seed N] [--json]

Breaks a fleet of its own, on throwaway servers, while events flow; then counts what was lost, applied twice, put out of
order or left different from its history, and how long lanes stood still.

  --fault NAME   one of those below; several with commas; all: every one in turn; mixed: drawn from the seed
  --seconds N    how long each fault strikes (default 10)
  --seed N       the same seed tells the same events and draws the same chances (default: from the clock, and printed)
  --json         one line of JSON per fault on standard output; everything else goes to standard error

Faults:
${[...FAULTS, mixed].map(({ name, does }) => `  ${name.padEnd(20)}${does}`).join("\n")}

Exit codes: 0 nothing was lost, doubled, out of order or different, and recovery came in time; 1 something was;
2 bad usage; 3 a server could not be started; 130 Ctrl-C.
`;

const MOST_SECONDS = 3_600;
const SEED_SPAN = 1_000_000;

export function readOptions(args: readonly string[]): Asked<ChaosOptions> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      fault: { type: "string" },
      seconds: { type: "string", default: "10" },
      seed: { type: "string", default: String(Date.now() % SEED_SPAN) },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return null;
  const names = [...FAULTS, mixed].map(({ name }) => name);
  if (values.fault === undefined) return `--fault is missing; one of all, ${names.join(", ")}`;
  const asked = values.fault.split(",");
  const unknown = asked.find((name) => name !== "all" && !names.includes(name));
  if (unknown !== undefined) return `there is no fault ${unknown}; one of all, ${names.join(", ")}`;
  const seconds = wholeNumber(values.seconds);
  const seed = wholeNumber(values.seed);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > MOST_SECONDS) {
    return `--seconds is a whole number from 1 to ${MOST_SECONDS}`;
  }
  if (!Number.isSafeInteger(seed)) return "--seed is a whole number";
  const faults = asked.flatMap((name) =>
    name === "all" ? FAULTS : [...FAULTS, mixed].filter((fault) => fault.name === name),
  );
  return { faults, seconds, seed, json: values.json };
}

/** NaN for anything but digits. */
export function wholeNumber(text: string): number {
  return /^\d+$/u.test(text) ? Number(text) : Number.NaN;
}
