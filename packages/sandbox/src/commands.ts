import { spawn } from "node:child_process";

export interface CommandOptions {
  argv0?: string;
  /** Killed after this. Default: no bound. */
  timeoutMs?: number;
}

/** Runs a command without a terminal to its end; answers its standard output, throws with its standard error when it fails. */
export async function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    // Not execFile: that one drops argv0 without a word.
    const child = spawn(file, args, {
      stdio: ["ignore", "pipe", "pipe"],
      ...(options.argv0 === undefined ? {} : { argv0: options.argv0 }),
      ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
    });
    let output = "";
    let errors = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${file} ended with ${signal ?? code}: ${errors.slice(-1_000)}`));
    });
  });
}
