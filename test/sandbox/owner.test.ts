import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ProcessRow, startProcess, stillRunning, treeMembers } from "@junban/sandbox";
import { expect, test } from "vitest";
import { eventually } from "../support/index.ts";

interface OwnerReport {
  postgres: { pid: number; folder: string };
  redis: { pid: number; folder: string };
  child: number;
}

test.each(["SIGKILL", "SIGINT", "SIGTERM"] as const)(
  "nothing is left behind when the owner of a sandbox ends by %s",
  async (signal) => {
    const owner = await startProcess({
      command: process.execPath,
      args: [
        "--import",
        "tsx",
        "--conditions",
        "@junban/source",
        fileURLToPath(new URL("owner.fixture.ts", import.meta.url)),
      ],
    });
    const report = JSON.parse(await owner.waitForLine(/^\{/)) as OwnerReport;
    const members: readonly ProcessRow[] = treeMembers(owner.pid);
    const pids = members.map((member) => member.pid);
    expect(pids).toEqual(expect.arrayContaining([report.postgres.pid, report.redis.pid, report.child]));
    // Postgres alone is a handful of processes, each with a group of its own.
    expect(members.filter((member) => member.parentPid === report.postgres.pid).length).toBeGreaterThan(3);

    // The leader alone: a Ctrl-C that misses the servers is the harder case.
    process.kill(owner.pid, signal);
    await eventually(
      () => {
        expect(stillRunning(members)).toEqual([]);
        expect(existsSync(report.postgres.folder)).toBe(false);
        expect(existsSync(report.redis.folder)).toBe(false);
      },
      { withinMs: 20_000 },
    );
    expect(await owner.stop()).toMatchObject({ signal });
  },
);
