/** The `junban` command: what engineers and operators ask of the fleet from a terminal or a script. */
import { printable } from "@junban/operations";
import { errorLine, EXIT } from "@junban/service";
import { endingOf, UsageError } from "./exit.ts";
import { createProgram } from "./program.ts";
import { addressesOf } from "./services.ts";

/** No name, path or reason is as long as that; and whatever is wrong with it would be repeated in full. */
const LONGEST_ARGUMENT = 4_096;

watchOutput();
try {
  if (process.argv.some(({ length }) => length > LONGEST_ARGUMENT)) {
    throw new UsageError(`no argument may have more than ${LONGEST_ARGUMENT} characters`);
  }
  await createProgram(process.env).parseAsync(wordsOf(process.argv.slice(2)), { from: "user" });
} catch (error) {
  const ending = endingOf(error, addressesOf(process.env));
  for (const line of ending.lines) process.stderr.write(`${printable(line)}\n`);
  process.exitCode = ending.code;
}

/** `help dlq replay` is `dlq replay --help`: by itself commander looks at one word behind it. */
function wordsOf(typed: readonly string[]): readonly string[] {
  const [first, ...others] = typed;
  return first === "help" && others.length > 1 ? [...others, "--help"] : typed;
}

/** Output that nobody reads is no failure, output that cannot be written is; either way what was begun is done. */
function watchOutput(): void {
  let isTold = false;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // Whoever reads only the beginning (`| head`) has what it wanted, and asks for the exit code all the same.
      if (error.code === "EPIPE") return;
      if ((process.exitCode ?? EXIT.done) === EXIT.done) process.exitCode = EXIT.wrong;
      if (!isTold && stream === process.stdout) {
        process.stderr.write(`standard output cannot be written: ${errorLine(error)}\n`);
      }
      isTold = true;
    });
  }
}
