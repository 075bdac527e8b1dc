import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { runBounded } from "./bounded-command.ts";

const INSTALL_TIMEOUT_MS = 300_000;

/** The programs that check the model: spin turns it into C, a compiler makes the search of it. */
export interface ModelTools {
  readonly spin: string;
  readonly compiler: string;
}

/** What the search for them touches, so that a test can play a machine on which nothing is installed. */
export interface ToolSearch {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
  readonly platform: NodeJS.Platform;
  /** Runs a command without a terminal; throws when it fails. */
  run(file: string, args: readonly string[]): Promise<void>;
  say(line: string): void;
}

/** Thrown when spin or a C compiler is missing and could not be installed. */
export class ModelToolsMissingError extends Error {
  readonly code = "MODEL_TOOLS_MISSING";
  readonly missing: readonly string[];
  readonly tried: readonly string[];

  constructor({ missing, tried }: { missing: readonly string[]; tried: readonly string[] }) {
    super(
      [
        `Checking the model needs ${missing.join(" and ")}, and ${
          tried.length === 0 ? "this account may not install it" : "installing it did not work"
        }.`,
        "Install it (Debian: apt-get install spin gcc libc6-dev; macOS: brew install spin, and the command line tools),",
        "or name the programs in JUNBAN_SPIN and JUNBAN_CC.",
      ].join("\n"),
    );
    this.name = "ModelToolsMissingError";
    this.missing = missing;
    this.tried = tried;
  }
}

/** Finds spin and a C compiler, or installs what is missing, or throws {@link ModelToolsMissingError}. */
export async function findModelTools(search: ToolSearch): Promise<ModelTools> {
  const found = lookAround(search);
  if (isComplete(found)) return found;
  const tried: string[] = [];
  for (const command of installCommands(search)) {
    const line = command.join(" ");
    search.say(`model: ${missingOf(found).join(" and ")} not found, installing: ${line}`);
    const [file = "", ...args] = command;
    try {
      await search.run(file, args);
    } catch {
      tried.push(line);
      continue;
    }
    const installed = lookAround(search);
    if (isComplete(installed)) return installed;
    tried.push(line);
  }
  throw new ModelToolsMissingError({ missing: missingOf(found), tried });
}

type Found = { readonly [name in keyof ModelTools]: string | undefined };

function isComplete(found: Found): found is ModelTools {
  return found.spin !== undefined && found.compiler !== undefined;
}

function missingOf({ spin, compiler }: Found): readonly string[] {
  return [...(spin === undefined ? ["spin"] : []), ...(compiler === undefined ? ["a C compiler"] : [])];
}

function lookAround({ env }: ToolSearch): Found {
  const onPath = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const find = (names: readonly string[]): string | undefined =>
    names.flatMap((name) => onPath.map((folder) => join(folder, name))).find(isExecutable);
  // Somebody who names a program wants this very one; quietly taking another would mislead.
  const named = (variable: string): string | undefined => (env[variable] === "" ? undefined : env[variable]);
  return {
    spin: named("JUNBAN_SPIN") ?? find(["spin"]),
    compiler: named("JUNBAN_CC") ?? find(["cc", "gcc", "clang"]),
  };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function installCommands(search: ToolSearch): readonly (readonly string[])[] {
  if (search.platform !== "linux" || search.uid !== 0) return [];
  const apt = [
    "env",
    "DEBIAN_FRONTEND=noninteractive",
    "apt-get",
    "-q",
    "-y",
    "-o",
    "DPkg::Lock::Timeout=120",
  ];
  const packages = ["install", "--no-install-recommends", "spin", "gcc", "libc6-dev"];
  // The first line works where package lists are at hand; slim images come without them.
  return [
    [...apt, ...packages],
    ["sh", "-c", `${[...apt, "update"].join(" ")} && ${[...apt, ...packages].join(" ")}`],
  ];
}

/** This machine. */
export function systemSearch(signal: AbortSignal): ToolSearch {
  return {
    env: process.env,
    uid: process.getuid?.() ?? -1,
    platform: process.platform,
    run: async (file, args) => {
      const { code } = await runBounded(file, args, { folder: "/", timeoutMs: INSTALL_TIMEOUT_MS, signal });
      if (code !== 0) throw new Error(`${file} ended with ${code}`);
    },
    say: (line) => void process.stderr.write(`${line}\n`),
  };
}
