import { spawn } from "node:child_process";

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** What a program wrote to its terminal at once, and when, counted from its start. */
export interface Piece {
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

export interface Recording {
  readonly pieces: readonly Piece[];
  /** What the program ended with; null when a signal ended it. */
  readonly exitCode: number | null;
}

export interface RecordOptions extends TerminalSize {
  /** A line for the shell. */
  readonly command: string;
  readonly cwd: string;
  /** A run that has not come to its end by then is ended. */
  readonly withinMs: number;
}

/** Runs a command on a terminal of its own, which `script` provides, and keeps what it wrote. */
export async function record({ command, cwd, withinMs, columns, rows }: RecordOptions): Promise<Recording> {
  const { NO_COLOR: _noColor, FORCE_COLOR: _forceColor, ...env } = process.env;
  const child = spawn("script", scriptArguments(`stty cols ${columns} rows ${rows}; ${command}`), {
    cwd,
    env: { ...env, TERM: "xterm-256color", npm_config_update_notifier: "false" },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: withinMs,
  });
  const startedAtMs = performance.now();
  const pieces: Piece[] = [];
  child.stdout.on("data", (bytes: Uint8Array) => {
    pieces.push({ atMs: performance.now() - startedAtMs, bytes });
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("error", (cause) => reject(new Error("needs the command `script`", { cause })));
    child.once("close", resolve);
  });
  return { pieces, exitCode };
}

/** util-linux and BSD each have a `script`; both pass the exit code on, asked in their own ways. */
function scriptArguments(line: string): string[] {
  return process.platform === "linux" ? ["-qfec", line, "/dev/null"] : ["-q", "/dev/null", "sh", "-c", line];
}

/** The same with every pause shortened to `longestMs`: nobody learns from watching a server start. */
export function withoutPauses(pieces: readonly Piece[], longestMs: number): Piece[] {
  let lastMs = 0;
  let nowMs = 0;
  return pieces.map(({ atMs, bytes }) => {
    nowMs += Math.min(longestMs, atMs - lastMs);
    lastMs = atMs;
    return { atMs: nowMs, bytes };
  });
}
