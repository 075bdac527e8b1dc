/** Measures Junban beside others that apply the same events: `npm run bench -- --workload hot`. */
import { startSandbox } from "@junban/sandbox";
import { EXIT } from "@junban/service";
import { unlessAborted } from "@junban/trial";
import { exitCodeOf } from "./ending.ts";
import { machineOf } from "./machine.ts";
import { type BenchOptions, HELP, readOptions } from "./options.ts";
import { runProfile } from "./profile/run-profile.ts";
import { brokenPromises } from "./report/broken-promises.ts";
import { plot } from "./report/plot.ts";
import { BACKLOGS } from "./workloads/index.ts";

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function measure(options: BenchOptions, signal: AbortSignal): Promise<number> {
  const { workload, json, plotFolder } = options;
  say("starting Postgres and Redis, which are thrown away afterwards");
  const sandbox = await startSandbox();
  try {
    signal.throwIfAborted();
    const machine = await machineOf(sandbox);
    const run = await workload.run({ ...options, sandbox, machine, say, signal });
    const text = json ? [JSON.stringify(run)] : workload.table(run);
    process.stdout.write(`${text.join("\n")}\n`);
    if (plotFolder !== null) for (const file of await plot([run], plotFolder)) say(`drew ${file}`);
    const broken = brokenPromises(run);
    for (const sentence of broken) say(sentence);
    return broken.length === 0 ? EXIT.done : EXIT.wrong;
  } finally {
    await sandbox.stop();
  }
}

/** On servers of its own, which tell more of themselves and so are slower. */
async function profile(options: BenchOptions, folder: string): Promise<void> {
  const { workload, contenders, withinMs } = options;
  const backlog = BACKLOGS.find(({ name }) => name === workload.name);
  const events = backlog?.eventsOf(options) ?? [];
  process.stdout.write(await runProfile({ folder, workload: workload.name, events, contenders, withinMs }));
  say(`profiles and flame graphs are in ${folder}`);
}

/** The command's exit code. */
async function bench(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (options === null) {
    process.stdout.write(HELP);
    return EXIT.done;
  }
  if (typeof options === "string") {
    say(options);
    return EXIT.usage;
  }
  return exitCodeOf(async (signal) => {
    const { profileFolder } = options;
    if (profileFolder === null) return measure(options, signal);
    await unlessAborted(profile(options, profileFolder), signal);
    return EXIT.done;
  });
}

const code = await bench(process.argv.slice(2));
// Whatever an interrupted profile still has under way ends with this process.
process.exit(code);
