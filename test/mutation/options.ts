import { parseArgs } from "node:util";

export interface MutateOptions {
  /** Only guards whose promise or file holds this text. */
  readonly only: string;
  readonly list: boolean;
  readonly json: boolean;
  readonly table: boolean;
  readonly parallel: number;
}

export const USAGE = `npm run mutate -- [options]
  Takes one guard at a time out of a copy of the source, and wants a test to go red for it.
  --only TEXT     only guards whose promise or file holds the text
  --list          name the guards and end
  --table         print the rows for docs/guarantees.md at the end
  --json          one line of JSON at the end of standard output; everything else goes to standard error
  --parallel N    guards that are out at the same time, each in a copy of its own (1 to 8, default 2)
Exit codes: 0 every guard was caught; 1 one was not, or the tests are not green to begin with; 2 bad usage; 130 Ctrl-C.
`;

/** @throws {TypeError} for an unknown option or a value out of its range. */
export function readOptions(args: readonly string[]): MutateOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: "" },
      list: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      table: { type: "boolean", default: false },
      parallel: { type: "string", default: "2" },
    },
  });
  const parallel = Number(values.parallel);
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > 8) {
    throw new TypeError("--parallel is a whole number from 1 to 8");
  }
  return { ...values, parallel };
}
