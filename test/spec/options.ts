import { parseArgs } from "node:util";

export interface ModelOptions {
  readonly effort: "short" | "usual" | "deep";
  /** Only configurations and guards whose name holds this text. */
  readonly only: string;
  readonly list: boolean;
  /** Tell the way to every broken promise, also where it was meant to break. */
  readonly trails: boolean;
  /** Print the rows of docs/spec/README.md at the end. */
  readonly table: boolean;
  readonly json: boolean;
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

export const USAGE = `npm run model -- [options]
  Looks at every state of the lane protocol (docs/spec), and wants each guard to be missed when it is taken out.
  --short         the small configurations and two guards, within a minute
  --deep          also the largest configurations, which take a quarter of an hour and more
  --only TEXT     only configurations and guards whose name holds the text
  --list          name them and end
  --trails        tell the way to a promise that broke also where it was meant to break
  --table         print the rows for docs/spec/README.md at the end
  --memory MB     for the states of one search (200 to 64000, default 3500)
  --timeout S     for one search, seconds (1 to 86400, default 1800)
  --json          one line of JSON at the end of standard output; everything else goes to standard error
Exit codes: 0 all holds and every guard is missed; 1 not so, or a search was cut short; 2 bad usage;
  3 spin or a C compiler is missing and cannot be installed; 130 Ctrl-C.
`;

/** @throws {TypeError} for an unknown option or a value out of its range. */
export function readOptions(args: readonly string[]): ModelOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      short: { type: "boolean", default: false },
      deep: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      list: { type: "boolean", default: false },
      trails: { type: "boolean", default: false },
      table: { type: "boolean", default: false },
      memory: { type: "string", default: "3500" },
      timeout: { type: "string", default: "1800" },
      json: { type: "boolean", default: false },
    },
  });
  const { short, deep, only, list, trails, table, json } = values;
  if (short && deep) throw new TypeError("--short and --deep exclude each other");
  return {
    effort: effortOf({ short, deep }),
    only,
    list,
    trails,
    table,
    json,
    memoryMb: wholeNumber("--memory", values.memory, { min: 200, max: 64_000 }),
    timeoutMs: wholeNumber("--timeout", values.timeout, { min: 1, max: 86_400 }) * 1_000,
  };
}

function effortOf({ short, deep }: { short: boolean; deep: boolean }): ModelOptions["effort"] {
  if (short) return "short";
  return deep ? "deep" : "usual";
}

function wholeNumber(option: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new TypeError(`${option} is a whole number from ${min} to ${max}`);
  }
  return value;
}
