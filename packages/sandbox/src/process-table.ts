import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";

/** One process at one moment. A process id alone is reused by the system; together with the start it names one process. */
export interface ProcessRow {
  pid: number;
  parentPid: number;
  groupId: number;
  startedAt: string;
  /** Ended, but its parent has not collected it. Nothing of it runs any more. */
  ended: boolean;
}

/** All processes of this machine that we may see. Reads /proc on Linux (slim images have no ps) and asks ps elsewhere. */
export function listProcesses(): readonly ProcessRow[] {
  return process.platform === "linux" ? listFromProc() : listFromPs();
}

function listFromProc(): readonly ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    let text: string;
    try {
      text = readFileSync(`/proc/${entry}/stat`, "utf8");
    } catch {
      // It ended between the listing and the reading.
      continue;
    }
    // The name stands in brackets and may itself hold brackets and spaces, so the fields are counted from its end.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const state = fields[0] ?? "X";
    rows.push({
      pid: Number(entry),
      parentPid: Number(fields[1]),
      groupId: Number(fields[2]),
      startedAt: fields[19] ?? "",
      ended: state === "Z" || state === "X",
    });
  }
  return rows;
}

function listFromPs(): readonly ProcessRow[] {
  const text = execFileSync("ps", ["-axo", "pid=,ppid=,pgid=,stat=,lstart="], { encoding: "utf8" });
  const rows: ProcessRow[] = [];
  for (const line of text.split("\n")) {
    const found = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    if (found === null) continue;
    rows.push({
      pid: Number(found[1]),
      parentPid: Number(found[2]),
      groupId: Number(found[3]),
      startedAt: found[5] ?? "",
      ended: (found[4] ?? "").startsWith("Z"),
    });
  }
  return rows;
}

/**
 * The living members of the tree that `rootPid` leads: its process group, and everything that descends from a member,
 * as a child may have opened a group of its own (each Postgres backend does).
 */
export function treeMembers(
  rootPid: number,
  rows: readonly ProcessRow[] = listProcesses(),
): readonly ProcessRow[] {
  const members = new Map<number, ProcessRow>();
  for (const row of rows) {
    if (!row.ended && (row.pid === rootPid || row.groupId === rootPid)) members.set(row.pid, row);
  }
  for (let grew = true; grew;) {
    grew = false;
    for (const row of rows) {
      if (row.ended || members.has(row.pid) || !members.has(row.parentPid)) continue;
      members.set(row.pid, row);
      grew = true;
    }
  }
  return [...members.values()];
}

/** Those of the given processes that still run. */
export function stillRunning(
  processes: Iterable<ProcessRow>,
  rows: readonly ProcessRow[] = listProcesses(),
): readonly ProcessRow[] {
  const now = new Map(rows.map((row) => [row.pid, row]));
  return [...processes].filter((known) => {
    const row = now.get(known.pid);
    return row !== undefined && !row.ended && row.startedAt === known.startedAt;
  });
}

/** Sends a signal and does not mind that the receiver may be gone. A negative id addresses a process group. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already: what the signal was for has happened.
  }
}
