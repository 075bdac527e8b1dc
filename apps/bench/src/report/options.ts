import { parseArgs } from "node:util";

export interface ReportOptions {
  readonly quick: boolean;
  /** Names of workloads; null for all. */
  readonly only: readonly string[] | null;
  readonly out: string | null;
  readonly resume: boolean;
  /** Measures nothing and writes the page from what is kept. */
  readonly draw: boolean;
}

const USAGE = "npm run bench:report -- [--quick] [--only a,b] [--out FOLDER] [--resume] [--draw]";

/** The text for `--help`, with what there is to measure. */
export function helpOf(workloads: readonly { readonly name: string; readonly what: string }[]): string {
  return `${USAGE}

Runs every workload with every contender on throwaway servers, one after another, and writes what came of it: the page
docs/benchmarks.md with its pictures, and the block of the README that quotes from it. What is measured is kept at once
in docs/benchmarks/results.json.

  --quick       small and short, to see that everything works; written to a temporary folder unless --out says where
  --only a,b    these workloads and no others
  --out FOLDER  where the page goes, and benchmarks/ beside it (default docs); the README is left alone
  --resume      keeps the workloads that are there already, except those named by --only; the page says so
  --draw        measures nothing and writes the page again, after a change of docs/benchmarks/notes.json

Workloads:
${workloads.map(({ name, what }) => `  ${name.padEnd(14)}${what}`).join("\n")}

Exit codes: 0 done; 1 it broke off, or Junban broke a promise; 2 bad usage; 3 a server could not be started; 130 Ctrl-C.
`;
}

/** What was asked for; a sentence when it was asked wrongly; null when it was asked for help. */
export function readOptions(
  args: readonly string[],
  known: readonly { readonly name: string }[],
): ReportOptions | string | null {
  let values: ReturnType<typeof parsed>;
  try {
    values = parsed(args);
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${USAGE}`;
  }
  if (values.help) return null;
  const only = values.only?.split(",").filter((name) => name !== "") ?? null;
  const unknown = only?.find((name) => known.every((workload) => workload.name !== name));
  if (unknown !== undefined || only?.length === 0) {
    return `--only names some of ${known.map(({ name }) => name).join(", ")}, parted by commas`;
  }
  if (values.draw && (values.quick || values.resume || only !== null)) {
    return "--draw measures nothing: it goes with --out only";
  }
  return {
    quick: values.quick,
    only,
    out: values.out ?? null,
    resume: values.resume,
    draw: values.draw,
  };
}

function parsed(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      out: { type: "string" },
      resume: { type: "boolean", default: false },
      draw: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  }).values;
}
