import { readFileSync } from "node:fs";
import { printable } from "@junban/operations";
import { Command } from "commander";
import { registerActs } from "./commands/acts.ts";
import { registerAudit } from "./commands/audit.ts";
import { registerCompletion } from "./commands/completion.ts";
import { registerDlq } from "./commands/dlq.ts";
import { registerDoctor } from "./commands/doctor.ts";
import { registerHeld } from "./commands/held.ts";
import { registerLanes } from "./commands/lanes.ts";
import { registerMigrate } from "./commands/migrate.ts";
import { registerOrder } from "./commands/order.ts";
import { registerParked } from "./commands/parked.ts";
import { registerPublish } from "./commands/publish.ts";
import { registerPurge } from "./commands/purge.ts";
import { registerStatus } from "./commands/status.ts";
import { registerUpdates } from "./commands/updates.ts";
import { registerWaitIdle } from "./commands/wait-idle.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

/** Every command with its arguments and options. Help, completion and the check of the documents read it from here. */
export function createProgram(env: NodeJS.ProcessEnv): Command {
  const program = new Command("junban")
    .description("Junban applies order events one order at a time, in publish order, each at most once.")
    .version(version, "--version", "print the version")
    .addHelpText(
      "after",
      "\nExit codes: 0 done; 1 it ran and found something wrong; 2 bad usage or configuration; 3 could not reach a service.\n" +
        "Example: junban status",
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
    registerLanes,
    registerUpdates,
    registerAudit,
    registerDoctor,
    registerDlq,
    registerParked,
    registerActs,
    registerPurge,
    registerCompletion,
  ]) {
    register({ program, env });
  }
  // Without a name of its own the word would be called an argument too many.
  const parents = program.commands.filter(({ commands }) => commands.length > 0);
  for (const parent of parents) parent.allowExcessArguments();
  program.hook("preAction", (_program, command) => {
    const [word] = command.args;
    if (parents.includes(command) && word !== undefined) command.error(`error: unknown command '${word}'`);
  });
  return program;
}
