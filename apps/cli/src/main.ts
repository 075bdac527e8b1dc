/** The `junban` command: what engineers and operators ask of the fleet from a terminal or a script. */
import { printable } from "@junban/operations";
import { EXIT } from "@junban/service";
import { endingOf } from "./exit.ts";
import { createProgram } from "./program.ts";
import { addressesOf } from "./services.ts";

// Whoever reads only the beginning (`| head`) has what it wanted.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(EXIT.done);
  });
}

try {
  await createProgram(process.env).parseAsync();
} catch (error) {
  const ending = endingOf(error, addressesOf(process.env));
  for (const line of ending.lines) process.stderr.write(`${printable(line)}\n`);
  process.exitCode = ending.code;
}
