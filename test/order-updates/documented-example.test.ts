import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { GUARD_TABLE_SQL } from "../../packages/order-updates/src/index.ts";
import { freshDatabase } from "../support/index.ts";
import { openStation } from "./setting.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

async function blockOf(language: string): Promise<string> {
  const page = await readFile(join(ROOT, "docs/order-updates.md"), "utf8");
  return new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? "";
}

test("the table that docs/order-updates.md shows is the one that is created", async () => {
  expect((await blockOf("sql")).trim()).toBe(GUARD_TABLE_SQL);
});

test("the example of docs/order-updates.md handles what comes and ends when it is told to", async () => {
  const station = openStation();
  await station.send("A-1001", 1, 2);
  // Inside the checkout, where a script finds the packages as it would beside README.md; npm and git pass it over.
  const cache = join(ROOT, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "order-updates-"));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  const script = join(folder, "example.mts");
  await writeFile(script, await blockOf("ts"));
  const example = await startProcess({
    command: process.execPath,
    args: ["--import", "tsx", "--conditions", "@junban/source", script],
    cwd: ROOT,
    env: {
      PATH: process.env["PATH"],
      REDIS_URL: station.url,
      JUNBAN_PREFIX: station.prefix,
      DATABASE_URL: await freshDatabase(),
    },
  });
  onTestFinished(async () => void (await example.stop({ signal: "SIGKILL", graceMs: 0 })));
  await example.waitForLine("A-1001 is at version 1", { withinMs: 40_000 });
  await example.waitForLine("A-1001 is at version 2", { withinMs: 40_000 });
  example.signal("SIGTERM");
  expect(await example.exited).toEqual({ code: 0, signal: null });
});
