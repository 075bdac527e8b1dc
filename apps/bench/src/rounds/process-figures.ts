import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { treeMembers } from "@junban/sandbox";

export interface CpuSeconds {
  readonly node: number;
  readonly redis: number;
  readonly postgres: number;
}

/** Linux tells CPU time in these, whatever its kernel was built with. */
const TICKS_PER_SECOND = 100;

/** CPU seconds so far of the trees that these processes lead; null where the system does not tell. */
export async function cpuSecondsOf(leaders: {
  readonly node: readonly number[];
  readonly redis: number;
  readonly postgres: number;
}): Promise<CpuSeconds | null> {
  if (process.platform !== "linux") return null;
  const [node, redis, postgres] = await Promise.all([
    ticksOf(leaders.node),
    ticksOf([leaders.redis]),
    ticksOf([leaders.postgres]),
  ]);
  return {
    node: node / TICKS_PER_SECOND,
    redis: redis / TICKS_PER_SECOND,
    postgres: postgres / TICKS_PER_SECOND,
  };
}

/** The living members' own time, and that of children who have ended and were collected by one of them. */
async function ticksOf(leaders: readonly number[]): Promise<number> {
  const members = leaders.flatMap((pid) => treeMembers(pid));
  const times = await Promise.all(
    members.map(async ({ pid }) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
      // It ended a moment ago: its parent's figure holds its time.
      if (stat === null) return 0;
      // The command's name, in parentheses, may itself hold spaces.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    }),
  );
  return times.reduce((sum, time) => sum + time, 0);
}

/** Resident memory of the trees that these processes lead. */
export async function residentBytesOf(leaders: readonly number[]): Promise<number> {
  const pids = leaders.flatMap((pid) => treeMembers(pid)).map(({ pid }) => pid);
  const sizes =
    process.platform === "linux"
      ? await Promise.all(pids.map(residentKilobytes))
      : execFileSync("ps", ["-o", "rss=", "-p", pids.join()], { encoding: "utf8" })
          .trim()
          .split("\n")
          .map(Number);
  return sizes.reduce((sum, size) => sum + size * 1_024, 0);
}

async function residentKilobytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)?.[1] ?? 0);
}
