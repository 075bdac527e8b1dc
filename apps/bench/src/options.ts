import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Contender } from "./contenders/contender.ts";
import { CONTENDERS } from "./contenders/index.ts";
import { BACKLOGS, WORKLOADS } from "./workloads/index.ts";
import type { Workload } from "./workloads/workload.ts";

export interface BenchOptions {
  readonly workload: Workload<unknown>;
  /** Junban first. */
  readonly contenders: readonly Contender[];
  readonly events: number;
  readonly rounds: number;
  readonly seed: number;
  readonly withinMs: number;
  readonly json: boolean;
  readonly plotFolder: string | null;
  readonly profileFolder: string | null;
}

const DEFAULT_PEERS = "junban-single,bullmq-noop,sql-ceiling";
const LIMITS = { events: 10_000_000, rounds: 1_000, seed: Number.MAX_SAFE_INTEGER, within: 3_600 } as const;

/** Where pictures and profiles go when no folder is named: no place where files of the project lie. */
const FOLDER = join(tmpdir(), "junban-bench");

const USAGE =
  "npm run bench -- [--workload NAME] [--events N] [--peers a,b|all] [--rounds N] [--seed N] [--within SECONDS] [--json] [--plot [FOLDER]] [--profile [FOLDER]]";

export const HELP = `${USAGE}

Measures Junban and others on throwaway servers of its own, in one run, one after another in rotating order.

  --workload NAME   one of those below (default hot)
  --events N        how many events (default: the workload's own)
  --peers a,b       whom Junban is measured beside, of those below; all: everybody; "": nobody
                    (default ${DEFAULT_PEERS})
  --rounds N        of each contender; medians are shown (default 3)
  --seed N          the same seed tells the same events (default 1)
  --within SECONDS  a contender that takes longer for one round is cut off (default 60)
  --json            one JSON document on standard output instead of the table
  --plot [FOLDER]   draws FOLDER/WORKLOAD.svg as well
  --profile [FOLDER]
                    does not measure, but writes where each contender's time goes: profile.txt, and a flame graph each
                    (default folder of both: ${FOLDER})

Workloads:
${listed(WORKLOADS)}

Contenders:
${listed(CONTENDERS)}

Exit codes: 0 done; 1 it broke off, or Junban lost, doubled or reordered something; 2 bad usage; 3 a server could not be started; 130 Ctrl-C.
`;

/** What was asked for; a sentence when it was asked wrongly; null when it was asked for help. */
export function readOptions(args: readonly string[]): BenchOptions | string | null {
  try {
    const values = parsed(args);
    return values.help ? null : optionsOf(values);
  } catch (error) {
    // The parser of arguments, or one of the readers below, says what it does not know.
    if (error instanceof TypeError || error instanceof RangeError) return `${error.message}\n${USAGE}`;
    throw error;
  }
}

type Values = ReturnType<typeof parsed>;

function parsed(args: readonly string[]) {
  return parseArgs({
    args: withFolders(args),
    options: {
      workload: { type: "string", default: "hot" },
      events: { type: "string" },
      peers: { type: "string", default: DEFAULT_PEERS },
      rounds: { type: "string", default: "3" },
      seed: { type: "string", default: "1" },
      within: { type: "string", default: "60" },
      json: { type: "boolean", default: false },
      plot: { type: "string" },
      profile: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  }).values;
}

/** The parser knows no option whose value may be left out. */
function withFolders(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const isBare = (arg === "--plot" || arg === "--profile") && (args[index + 1]?.startsWith("-") ?? true);
    return isBare ? [arg, FOLDER] : [arg];
  });
}

function optionsOf(values: Values): BenchOptions {
  const workload = WORKLOADS.find(({ name }) => name === values.workload);
  if (workload === undefined) {
    throw new RangeError(`there is no workload ${values.workload}; one of ${namesOf(WORKLOADS)}`);
  }
  if (values.profile !== undefined && BACKLOGS.every(({ name }) => name !== workload.name)) {
    throw new RangeError(`--profile takes one of ${namesOf(BACKLOGS)}, not ${workload.name}`);
  }
  return {
    workload,
    contenders: contendersNamed(values.peers),
    events: wholeNumber("events", values.events ?? String(workload.defaultEvents)),
    rounds: wholeNumber("rounds", values.rounds),
    seed: wholeNumber("seed", values.seed),
    withinMs: wholeNumber("within", values.within) * 1_000,
    json: values.json,
    plotFolder: values.plot ?? null,
    profileFolder: values.profile ?? null,
  };
}

/** Junban and those named, each once. */
function contendersNamed(peers: string): readonly Contender[] {
  if (peers === "all") return CONTENDERS;
  const [own, ...others] = CONTENDERS;
  const names = peers.split(",").filter((name) => name !== "");
  const unknown = names.find((name) => CONTENDERS.every((contender) => contender.name !== name));
  if (unknown !== undefined) {
    throw new RangeError(`there is no contender ${unknown}; some of ${namesOf(CONTENDERS)}, or all`);
  }
  return [own, ...others.filter(({ name }) => names.includes(name))].filter((one) => one !== undefined);
}

function wholeNumber(name: keyof typeof LIMITS, text: string): number {
  const value = /^\d+$/u.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= LIMITS[name]) return value;
  throw new RangeError(`--${name} is a whole number from 1 to ${LIMITS[name]}`);
}

function namesOf(all: readonly { readonly name: string }[]): string {
  return all.map(({ name }) => name).join(", ");
}

function listed(all: readonly { readonly name: string; readonly what: string }[]): string {
  return all.map(({ name, what }) => `  ${name.padEnd(18)}${what}`).join("\n");
}
