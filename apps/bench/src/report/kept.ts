import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Contender } from "../contenders/contender.ts";
import type { Run } from "../results.ts";

/** What the page is made of: every workload that was run, and whom it was run with. Kept as `benchmarks/results.json`. */
export interface Kept {
  /** True for a short run that only shows that everything works. Its figures mean nothing. */
  readonly quick: boolean;
  /** One for each time the command was started on this file; more than one is said on the page. */
  readonly sittings: readonly Sitting[];
  readonly contenders: readonly KeptContender[];
  readonly workloads: readonly KeptWorkload[];
}

export interface Sitting {
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** Short hash of the commit, or null outside a checkout. */
  readonly commit: string | null;
  /** Whether files of the project differed from that commit, results and pages left out. */
  readonly changed: boolean;
}

/** What the page tells of a contender; where its process lies is nobody's business there. */
export type KeptContender = Pick<
  Contender,
  "name" | "version" | "what" | "settings" | "promises" | "applies"
>;

export interface KeptWorkload {
  /** Which of the sittings. */
  readonly sitting: number;
  readonly what: string;
  readonly tookMs: number;
  /** After so long a contender was cut off. */
  readonly withinMs: number;
  readonly run: Run<unknown>;
}

export function runsOf(kept: Kept): readonly Run<unknown>[] {
  return kept.workloads.map(({ run }) => run);
}

/** What is kept in the file; null when there is none. Throws SyntaxError when it holds something else. */
export async function readKept(file: string): Promise<Kept | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Kept;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Written beside and moved into place, so that an interruption leaves the last whole state. */
export async function writeKept(file: string, kept: Kept): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, `${JSON.stringify(kept, null, 2)}\n`);
  await rename(`${file}.new`, file);
}
