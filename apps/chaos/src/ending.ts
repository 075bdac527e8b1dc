import { isMissingServer } from "@junban/sandbox";
import { EXIT } from "@junban/service";
import { InterruptedError } from "@junban/trial";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What a command was asked for; a sentence when it was asked wrongly; null when it was asked for help. */
export type Asked<Options> = Options | string | null;

/** A command's whole life: its options read, its work done or interrupted, its exit code. Never rejects. */
export async function runCommand<Options extends object>(command: {
  readonly read: () => Asked<Options>;
  readonly help: string;
  readonly work: (options: Options, signal: AbortSignal) => Promise<number>;
}): Promise<number> {
  const options = asked(command.read);
  if (options === null) {
    process.stdout.write(command.help);
    return EXIT.done;
  }
  if (typeof options === "string") {
    process.stderr.write(`${options}\n`);
    return EXIT.usage;
  }
  const curtain = new AbortController();
  for (const name of SIGNALS) process.on(name, () => curtain.abort(new InterruptedError(name)));
  for (const stream of [process.stdout, process.stderr]) {
    // Node ignores the signal of a closed pipe (`| head`) and reports each write into it as an error instead.
    stream.on("error", () => curtain.abort(new InterruptedError("SIGPIPE")));
  }
  try {
    return await command.work(options, curtain.signal);
  } catch (error) {
    // What fails after Ctrl-C, fails because of it.
    const { code, line } = endingOf(curtain.signal.aborted ? curtain.signal.reason : error);
    process.stderr.write(`${line}\n`);
    return code;
  }
}

function asked<Options>(read: () => Asked<Options>): Asked<Options> {
  try {
    return read();
  } catch (error) {
    // The parser of arguments says what it does not know.
    return error instanceof Error ? error.message : String(error);
  }
}

function endingOf(error: unknown): { readonly code: number; readonly line: string } {
  if (error instanceof InterruptedError) return { code: error.exitCode, line: error.message };
  if (isMissingServer(error)) return { code: EXIT.unreachable, line: error.message };
  return { code: EXIT.wrong, line: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
