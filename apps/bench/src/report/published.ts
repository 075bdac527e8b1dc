import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { capacityBlockOf } from "./capacity.ts";
import { readKept, runsOf, type Kept } from "./kept.ts";
import { pageOf, type Notes } from "./page.ts";
import { pictureOf } from "./pictures.ts";
import { plot } from "./plot.ts";
import { blockOf, withBlock } from "./readme.ts";

/** Where everything lies. */
export interface Places {
  /** Holds `benchmarks.md`, beside it `benchmarks/` with results, notes and pictures, and `capacity.md`, if there is one. */
  readonly folder: string;
  /** The README that quotes from them; null for none. */
  readonly readme: string | null;
}

export function resultsFile({ folder }: Places): string {
  return join(folder, "benchmarks", "results.json");
}

/** What stands in the way of targets, by their ids; nothing when there is no such file. */
export async function readNotes({ folder }: Places): Promise<Notes> {
  const text = await textOf(join(folder, "benchmarks", "notes.json"));
  return text === null ? {} : (JSON.parse(text) as Notes);
}

/** Writes the page and its pictures, and the blocks of other pages; answers what was written. */
export async function publish(kept: Kept, places: Places): Promise<readonly string[]> {
  await mkdir(places.folder, { recursive: true });
  const page = join(places.folder, "benchmarks.md");
  await writeFile(page, pageOf(kept, await readNotes(places)));
  const written = [page, ...(await plot(runsOf(kept), join(places.folder, "benchmarks")))];
  for (const { file, block } of quotesOf(kept, places)) {
    const text = await textOf(file);
    const quoted = text === null ? null : withBlock(text, block);
    if (quoted === null) continue;
    await writeFile(file, quoted);
    written.push(file);
  }
  return written;
}

/** Pages written by hand, with a block of figures each. */
function quotesOf(
  kept: Kept,
  { folder, readme }: Places,
): readonly { readonly file: string; readonly called: string; readonly block: string }[] {
  return [
    ...(readme === null ? [] : [{ file: readme, called: "the README's block", block: blockOf(kept) }]),
    { file: join(folder, "capacity.md"), called: "capacity.md's block", block: capacityBlockOf(kept) },
  ];
}

/** Files that are not what the results there make of them, with a word each; none when nothing was measured yet. */
export async function differences(places: Places): Promise<readonly string[]> {
  const kept = await readKept(resultsFile(places));
  if (kept === null) return [];
  const page = pageOf(kept, await readNotes(places));
  const found = (await textOf(join(places.folder, "benchmarks.md"))) === page ? [] : ["benchmarks.md"];
  for (const run of runsOf(kept)) {
    const picture = pictureOf(run);
    const file = `benchmarks/${run.workload}.svg`;
    if (picture !== null && (await textOf(join(places.folder, file))) !== picture) found.push(file);
  }
  for (const { file, called, block } of quotesOf(kept, places)) {
    const text = await textOf(file);
    if (text !== null && withBlock(text, block) !== text) found.push(called);
  }
  return found;
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
