import { spawn } from "node:child_process";

export interface CommandBounds {
  readonly folder: string;
  readonly timeoutMs: number;
  /** Ends the command, as running out of time does. */
  readonly signal: AbortSignal;
}

export interface CommandEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** What it wrote, errors included, in the order in which it arrived. */
  readonly output: string;
  readonly outOfTime: boolean;
}

/** What is kept of an output; a trail of a few thousand steps is far shorter. */
const MOST_CHARACTERS = 8_000_000;

/**
 * Runs a command without a terminal to its end, in a process group of its own, and ends the whole group when its time is up or
 * `signal` fires: spin calls a preprocessor, and a search must not outlive whoever asked for it.
 * @throws the system's error when the command cannot be started.
 */
export async function runBounded(
  file: string,
  args: readonly string[],
  { folder, timeoutMs, signal }: CommandBounds,
): Promise<CommandEnd> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let output = "";
    let outOfTime = false;
    const hear = (chunk: Buffer): void => {
      if (output.length < MOST_CHARACTERS) output += chunk.toString();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    const end = (): void => endGroup(child.pid);
    const timer = setTimeout(() => {
      outOfTime = true;
      end();
    }, timeoutMs);
    signal.addEventListener("abort", end);
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
    };
    child.once("error", (error) => {
      over();
      reject(error);
    });
    child.once("close", (code) => {
      over();
      if (signal.aborted) reject(signal.reason as Error);
      else resolve({ code, output, outOfTime });
    });
  });
}

function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // Gone already.
  }
}
