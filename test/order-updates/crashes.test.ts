import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { effectsOf, openPool, openStation } from "./setting.ts";

const PROGRAM = fileURLToPath(new URL("die-at-commit.process.ts", import.meta.url));

test.each([
  { moment: "before", effectsAfterDeath: [], skipped: 0 },
  { moment: "after", effectsAfterDeath: ["A@1"], skipped: 1 },
])(
  "a consumer that dies right $moment its effect commits leaves exactly one effect in the end",
  async ({ moment, effectsAfterDeath, skipped }) => {
    const station = openStation();
    const pool = await openPool();
    const { connectionString = "" } = pool.options;
    const args = ["--import", "tsx", "--conditions", "@junban/source", PROGRAM];
    const doomed = await startProcess({
      command: process.execPath,
      args: [...args, station.url, station.prefix, connectionString, moment],
    });
    onTestFinished(async () => void (await doomed.stop({ signal: "SIGKILL", graceMs: 0 })));
    await station.send("A", 1);
    expect(await doomed.exited).toEqual({ code: null, signal: "SIGKILL" });
    await eventually(async () => expect(await effectsOf(pool)).toEqual(effectsAfterDeath));

    const seen = await station.onPostgres(pool, { leaseMs: 1_000 });
    await eventually(async () => (await station.left()) === 0, { withinMs: 40_000 });
    expect(await effectsOf(pool)).toEqual(["A@1"]);
    expect(seen.skipped).toHaveLength(skipped);
  },
);
