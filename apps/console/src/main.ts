import { hashPasswordCommand } from "./hash-password.ts";
import { runConsole } from "./run-console.ts";

const [command, ...rest] = process.argv.slice(2);
if (command === undefined) {
  await runConsole({ env: process.env });
} else if (command === "hash-password" && rest.length === 0) {
  await hashPasswordCommand({ input: process.stdin, output: process.stdout, errors: process.stderr });
} else {
  process.stderr.write("usage: junban-console, or junban-console hash-password < PASSWORD\n");
  process.exitCode = 2;
}
