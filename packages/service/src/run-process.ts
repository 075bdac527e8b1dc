import { readConfig, type Config, type Need } from "./config.ts";
import { exitCodeOf } from "./errors.ts";
import { createLogger, type Logger } from "./logger.ts";
import { createShutdown, type Shutdown } from "./shutdown.ts";

/** What a process has before it has anything of its own. */
export interface ProcessStart<Needed extends Need = Need> {
  readonly config: Config<Needed>;
  readonly logger: Logger;
  /** Takes the steps by which the process ends. */
  readonly shutdown: Shutdown;
}

export interface RunProcessOptions<Needs extends readonly Need[]> {
  /** What it is called in its own log. */
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
  /** The services it cannot do without. */
  readonly needs: Needs;
  /** Resolves once the process serves. What it throws ends the process, with the steps added so far. */
  readonly start: (process: ProcessStart<Needs[number]>) => Promise<void>;
  /** The exit code for what `start` threw; default {@link exitCodeOf}. */
  readonly exitCode?: (error: unknown) => number;
}

/**
 * The whole life of a process, from its environment to its exit code: configuration, logger, the end prepared, then `start`. Never
 * rejects.
 */
export async function runProcess<const Needs extends readonly Need[]>({
  name,
  env,
  needs,
  start,
  exitCode = exitCodeOf,
}: RunProcessOptions<Needs>): Promise<void> {
  // Whether anybody reads what a person should is no matter of life and death, here or in any warning of the runtime's.
  process.stderr.on("error", () => undefined);
  let config: Config<Needs[number]>;
  try {
    config = readConfig(env, needs);
  } catch (error) {
    // There is no logger yet, and a person reads this.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = exitCodeOf(error);
    return;
  }
  const logger = createLogger({ name, level: config.logLevel });
  const shutdown = createShutdown({ graceMs: config.shutdownGraceMs, logger });
  try {
    await start({ config, logger, shutdown });
  } catch (error) {
    // Being asked to stop in the middle of the start is no failure of the start.
    if (shutdown.signal.aborted) return;
    logger.fatal({ err: error }, `the ${name} cannot start`);
    await shutdown.begin("the start failed", exitCode(error));
  }
}
