import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { GUARD_TABLE_SQL } from "../../packages/order-updates/src/index.ts";
import { blocksIn, eventually, freshDatabase, scriptFolder } from "../support/index.ts";
import { openStation } from "./setting.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const page = await readFile(join(ROOT, "docs/order-updates.md"), "utf8");
const [statement = ""] = blocksIn(page, { language: "sql" });
const [source = "", remedy = ""] = blocksIn(page, { language: "ts" });

test("the table that docs/order-updates.md shows is the one that is created", async () => {
  expect(statement.trim()).toBe(GUARD_TABLE_SQL);
});

test("the example of docs/order-updates.md handles what comes and ends when it is told to", async () => {
  const station = openStation();
  await station.send("A-1001", 1, 2);
  const script = join(await scriptFolder(), "example.mts");
  await writeFile(script, source);
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

test("the remedy of docs/order-updates.md shows what piles up, and ends the subscription of the name it is given", async () => {
  const station = openStation();
  const { consumer } = await station.onRedis({ name: "old" });
  await consumer.close();
  const billing = await station.onRedis({ name: "billing" });
  await station.send("A-1001", 1, 2);
  await eventually(() => billing.begun.length === 2);
  const script = join(await scriptFolder(), "names.mts");
  await writeFile(script, remedy);
  const run = async (...names: string[]): Promise<string> => {
    const tree = await startProcess({
      command: process.execPath,
      args: ["--import", "tsx", "--conditions", "@junban/source", script, ...names],
      cwd: ROOT,
      env: { PATH: process.env["PATH"], REDIS_URL: station.url, JUNBAN_PREFIX: station.prefix },
    });
    expect({ ...(await tree.exited), said: tree.stderr() }).toEqual({ code: 0, signal: null, said: "" });
    return tree.stdout();
  };
  const served = "billing: 0 waiting, 0 failed\n";
  await eventually(async () => expect(await run()).toBe(`${served}old: 2 waiting, 0 failed\n`));
  expect(await run("old")).toBe(served);
});
