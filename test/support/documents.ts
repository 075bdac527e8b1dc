import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The fenced blocks of one language in a Markdown page, in their sequence and as they stand. */
export function blocksIn(page: string, { language }: { language: string }): string[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text]) =>
    name === language ? [text ?? ""] : [],
  );
}

/**
 * A folder inside the checkout, where a script finds the packages as it would beside README.md; npm and git pass it over. It
 * goes with the test.
 */
export async function scriptFolder(): Promise<string> {
  const cache = join(ROOT, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "script-"));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  return folder;
}
