import { readFile } from "node:fs/promises";

/** What a process has used since its start, all its threads together, as Linux tells it. */
export interface ProcessFigures {
  readonly userSeconds: number;
  /** In the kernel, on the process's behalf. */
  readonly systemSeconds: number;
  /** Of both together: the thread that runs JavaScript. The others compile, collect garbage and take the profile's samples. */
  readonly mainThreadSeconds: number;
  /** System calls that read from, or write to, a file or a socket. */
  readonly reads: number;
  readonly writes: number;
}

const TICKS_PER_SECOND = 100;

/** Null where there is no /proc. */
export async function processFigures(pid: number): Promise<ProcessFigures | null> {
  const [stat, mainThread, io] = await Promise.all(
    ["stat", `task/${pid}/stat`, "io"].map((file) =>
      readFile(`/proc/${pid}/${file}`, "utf8").catch(() => null),
    ),
  );
  if (typeof stat !== "string" || typeof mainThread !== "string" || typeof io !== "string") return null;
  const whole = timesIn(stat);
  const main = timesIn(mainThread);
  const counted = (name: string): number => Number(new RegExp(`^${name}: (\\d+)`, "mu").exec(io)?.[1]);
  return {
    ...whole,
    mainThreadSeconds: main.userSeconds + main.systemSeconds,
    reads: counted("syscr"),
    writes: counted("syscw"),
  };
}

function timesIn(stat: string): Pick<ProcessFigures, "userSeconds" | "systemSeconds"> {
  // The command's name, in parentheses, may itself hold spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    userSeconds: Number(fields[11]) / TICKS_PER_SECOND,
    systemSeconds: Number(fields[12]) / TICKS_PER_SECOND,
  };
}

export function figuresBetween(before: ProcessFigures, after: ProcessFigures): ProcessFigures {
  return {
    userSeconds: after.userSeconds - before.userSeconds,
    systemSeconds: after.systemSeconds - before.systemSeconds,
    mainThreadSeconds: after.mainThreadSeconds - before.mainThreadSeconds,
    reads: after.reads - before.reads,
    writes: after.writes - before.writes,
  };
}
