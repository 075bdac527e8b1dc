import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import type { ProcessTree } from "@junban/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { effectsOf, openPool, openStation } from "./setting.ts";

const PROGRAM = fileURLToPath(new URL("die-at-commit.process.ts", import.meta.url));

async function startDoomed(args: readonly string[]): Promise<ProcessTree> {
  const doomed = await startProcess({
    command: process.execPath,
    args: ["--import", "tsx", "--conditions", "@junban/source", PROGRAM, ...args],
  });
  onTestFinished(async () => void (await doomed.stop({ signal: "SIGKILL", graceMs: 0 })));
  return doomed;
}

test.each([
  { moment: "before", effectsAfterDeath: [], skipped: 0 },
  { moment: "after", effectsAfterDeath: ["A@1"], skipped: 1 },
])(
  "a consumer that dies right $moment its effect commits leaves exactly one effect in the end",
  async ({ moment, effectsAfterDeath, skipped }) => {
    const station = openStation();
    const pool = await openPool();
    const { connectionString = "" } = pool.options;
    const doomed = await startDoomed([station.url, station.prefix, connectionString, moment]);
    await station.send("A", 1);
    expect(await doomed.exited).toEqual({ code: null, signal: "SIGKILL" });
    await eventually(async () => expect(await effectsOf(pool)).toEqual(effectsAfterDeath));

    const seen = await station.onPostgres(pool, { leaseMs: 1_000 });
    await eventually(async () => (await station.left()) === 0, { withinMs: 40_000 });
    expect(await effectsOf(pool)).toEqual(["A@1"]);
    // The relay's job may have been in its hands as well, and then there is a second copy.
    expect(seen.skipped.length).toBeGreaterThanOrEqual(skipped);
  },
);

test("what a dead consumer had in hands is waited for: the versions behind it make no gap", async () => {
  const station = openStation();
  const pool = await openPool();
  const { connectionString = "" } = pool.options;
  const doomed = await startDoomed([station.url, station.prefix, connectionString, "before"]);
  await station.send("A", 1);
  expect(await doomed.exited).toEqual({ code: null, signal: "SIGKILL" });

  // Version 1 comes again once its lock has lapsed; version 2 is there at once.
  const seen = await station.onPostgres(pool, { leaseMs: 1_000, gapWaitMs: 60_000 });
  await station.send("A", 2);
  await eventually(async () => (await station.left()) === 0, { withinMs: 50_000 });
  expect(await effectsOf(pool)).toEqual(["A@1", "A@2"]);
  expect(seen.gaps).toEqual([]);
});
