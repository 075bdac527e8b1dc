/** A program that owns a sandbox and then does nothing: the tests end it in several ways and look at what is left. */
import { startProcess, startSandbox } from "@junban/sandbox";

const sandbox = await startSandbox({ postgres: { fast: true } });
const child = await startProcess({ command: "sh", args: ["-c", "sleep 600 & sleep 600"] });
const report = {
  postgres: { pid: sandbox.postgres.pid, folder: sandbox.postgres.folder },
  redis: { pid: sandbox.redis.pid, folder: sandbox.redis.folder },
  child: child.pid,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
setInterval(() => undefined, 1_000);
