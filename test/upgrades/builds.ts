import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import { onTestFinished } from "vitest";
import { environmentOf, type Place } from "../fleet/worker-lab.ts";
import { TreeCopy } from "../mutation/tree-copy.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A checkout from which real processes start. */
export interface Build {
  readonly folder: string;
}

interface Change {
  /** A text that stands in the file once. */
  readonly from: string;
  readonly to: string;
}

/** This checkout as it stands. */
export const THIS_BUILD: Build = { folder: ROOT };

/** Another build: a copy of this one with some files changed or added. Ends with the test. */
export async function buildWith(changes: {
  readonly edited?: Readonly<Record<string, readonly Change[]>>;
  readonly added?: Readonly<Record<string, string>>;
}): Promise<Build> {
  const copy = await TreeCopy.of(ROOT);
  onTestFinished(() => copy.remove());
  for (const [file, edits] of Object.entries(changes.edited ?? {})) {
    const path = join(copy.folder, file);
    let text = await readFile(path, "utf8");
    for (const { from, to } of edits) {
      if (text.split(from).length !== 2) throw new Error(`${file} does not hold this once: ${from}`);
      text = text.replace(from, () => to);
    }
    await writeFile(path, text);
  }
  for (const [file, text] of Object.entries(changes.added ?? {})) {
    await writeFile(join(copy.folder, file), text);
  }
  return { folder: copy.folder };
}

/** Takes types out of what a build can read, as in a build from before they were thought of. */
export async function buildWithout(types: readonly string[]): Promise<Build> {
  const file = "packages/orders/src/payloads.ts";
  const edits = types.map((type) => ({ from: `  "${type}": `, to: `  "${type}, as yet unknown": ` }));
  return buildWith({ edited: { [file]: edits } });
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the `junban` command of a build. */
export async function junban(build: Build, place: Place, args: readonly string[]): Promise<Ran> {
  const tree = await startProcess({
    command: process.execPath,
    args: [
      "--import",
      "tsx",
      "--conditions",
      "@junban/source",
      join(build.folder, "apps/cli/src/main.ts"),
      ...args,
    ],
    env: { PATH: process.env["PATH"], ...environmentOf(place) },
    cwd: build.folder,
  });
  const { code } = await tree.exited;
  return { code, out: tree.stdout(), err: tree.stderr() };
}
