import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Run } from "../results.ts";
import { pictureOf } from "./pictures.ts";

/** Draws each run as `FOLDER/WORKLOAD.svg`, making the folder if need be; answers the files written. */
export async function plot(runs: readonly Run<unknown>[], folder: string): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const written: string[] = [];
  for (const run of runs) {
    const picture = pictureOf(run);
    if (picture === null) continue;
    const file = join(folder, `${run.workload}.svg`);
    await writeFile(file, picture);
    written.push(file);
  }
  return written;
}
