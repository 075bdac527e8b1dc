/** The `junban` command: what engineers and operators ask of the fleet from a terminal or a script. */
import { printable } from "@junban/operations";
import { errorLine, EXIT } from "@junban/service";
import { endingOf } from "./exit.ts";
import { createProgram } from "./program.ts";
import { addressesOf } from "./services.ts";

let isTold = false;
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // Whoever reads only the beginning (`| head`) has what it wanted. What was begun is done, and judged, all the same.
    if (error.code === "EPIPE") return;
    process.exitCode ||= EXIT.wrong;
    if (!isTold && stream === process.stdout) {
      process.stderr.write(`standard output cannot be written: ${errorLine(error)}\n`);
    }
    isTold = true;
  });
}

try {
  await createProgram(process.env).parseAsync();
} catch (error) {
  const ending = endingOf(error, addressesOf(process.env));
  for (const line of ending.lines) process.stderr.write(`${printable(line)}\n`);
  process.exitCode = ending.code;
}
