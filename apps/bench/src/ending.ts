import { isMissingServer } from "@junban/sandbox";
import { EXIT } from "@junban/service";
import { InterruptedError } from "@junban/trial";

/** Runs a command's work until it is done or interrupted, and answers its exit code. What went wrong stands on standard error. */
export async function exitCodeOf(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const curtain = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => curtain.abort(new InterruptedError(name)));
  }
  try {
    return await work(curtain.signal);
  } catch (error) {
    // What fails after Ctrl-C, fails because of it.
    const { code, line } = endingOf(curtain.signal.aborted ? curtain.signal.reason : error);
    process.stderr.write(`${line}\n`);
    return code;
  }
}

function endingOf(error: unknown): { readonly code: number; readonly line: string } {
  if (error instanceof InterruptedError) return { code: error.exitCode, line: error.message };
  if (isMissingServer(error)) return { code: EXIT.unreachable, line: error.message };
  return { code: EXIT.wrong, line: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
