import { EXIT } from "@junban/service";
/** The `junban` command: what engineers and operators ask of the fleet from a terminal or a script. */
import { Command } from "commander";
import { registerAudit } from "./commands/audit.ts";
import { registerDlq } from "./commands/dlq.ts";
import { registerHeld } from "./commands/held.ts";
import { registerMigrate } from "./commands/migrate.ts";
import { registerOrder } from "./commands/order.ts";
import { registerParked } from "./commands/parked.ts";
import { registerPublish } from "./commands/publish.ts";
import { registerPurge } from "./commands/purge.ts";
import { registerStatus } from "./commands/status.ts";
import { registerWaitIdle } from "./commands/wait-idle.ts";
import { endingOf } from "./exit.ts";
import { printable } from "./printing.ts";
import { addressesOf } from "./services.ts";

const program = new Command("junban")
  .description("Junban applies order events one order at a time, in publish order, exactly once.")
  .addHelpText(
    "after",
    "\nExit codes: 0 done; 1 it ran and found something wrong; 2 bad usage or configuration; 3 could not reach a service.",
  )
  // What stands behind a subcommand is its own, although its parent may have an option of the same name.
  .enablePositionalOptions()
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.split("\n").map(printable).join("\n")) })
  .showHelpAfterError("(--help shows what is allowed)");

for (const register of [
  registerMigrate,
  registerPublish,
  registerWaitIdle,
  registerOrder,
  registerHeld,
  registerStatus,
  registerAudit,
  registerDlq,
  registerParked,
  registerPurge,
]) {
  register({ program, env: process.env });
}

// Whoever reads only the beginning (`| head`) has what it wanted.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(EXIT.done);
  });
}

try {
  await program.parseAsync();
} catch (error) {
  const ending = endingOf(error, addressesOf(process.env));
  for (const line of ending.lines) process.stderr.write(`${printable(line)}\n`);
  process.exitCode = ending.code;
}
