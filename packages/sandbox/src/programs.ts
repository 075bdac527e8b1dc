import { delimiter, join } from "node:path";
import { runCommand } from "./commands.ts";
import { ProgramMissingError } from "./errors.ts";
import { isExecutable } from "./executables.ts";
import { installPackage, type Machine } from "./system-packages.ts";

/** A program that is no part of the project, and the system package in which it comes. */
export interface Program {
  readonly name: string;
  readonly debian: string;
  readonly brew: string;
}

export interface ProgramSearch extends Machine {
  readonly env: NodeJS.ProcessEnv;
}

/** Finds a program on PATH (or where brew keeps what it leaves off PATH), or installs it, or throws ProgramMissingError. */
export async function findProgram(program: Program, search: ProgramSearch = thisMachine()): Promise<string> {
  const { name, debian, brew } = program;
  const found = lookAround(program, search);
  if (found !== undefined) return found;
  const tried: string[] = [];
  if (await installPackage(search, { wanted: { what: name, debian, brew }, tried })) {
    const installed = lookAround(program, search);
    if (installed !== undefined) return installed;
  }
  throw new ProgramMissingError({ program, tried });
}

function lookAround({ name, brew }: Program, { env }: ProgramSearch): string | undefined {
  const onPath = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const kegs = ["/opt/homebrew", "/usr/local"].map((folder) => join(folder, "opt", brew, "bin"));
  return [...onPath, ...kegs].map((folder) => join(folder, name)).find(isExecutable);
}

function thisMachine(): ProgramSearch {
  return {
    env: process.env,
    uid: process.getuid?.() ?? -1,
    platform: process.platform,
    run: runCommand,
    say: (line) => process.stderr.write(`${line}\n`),
  };
}
