import type { Config } from "./config.ts";
import { EXIT, exitCodeOf } from "./errors.ts";
import { createLogger, type Logger } from "./logger.ts";
import { createShutdown, type Shutdown } from "./shutdown.ts";

/** What a process is told from outside. */
export interface ProcessSettings {
  readonly config: Pick<Config, "logLevel" | "shutdownGraceMs">;
}

/** What a process has before it has anything of its own. */
export interface ProcessTools {
  readonly logger: Logger;
  /** Takes the steps by which the process ends. */
  readonly shutdown: Shutdown;
}

export interface RunProcessOptions<Settings extends ProcessSettings> {
  /** What it is called in its own log. */
  readonly name: string;
  /** Reads and checks the settings. What it throws is told on standard error, since there is no logger yet, and ends the process. */
  readonly read: () => Settings | Promise<Settings>;
  /** Resolves once the process serves. What it throws ends the process, with the steps added so far. */
  readonly start: (process: Settings & ProcessTools) => Promise<void>;
  /** Whether what `start` threw is, like a bad variable, nothing that a restart alone helps against: it exits with EXIT.usage. */
  readonly isMisuse?: (error: unknown) => boolean;
}

/**
 * The whole life of a process, from its settings to its exit code: settings, logger, the end prepared, then `start`. Never
 * rejects.
 */
export async function runProcess<Settings extends ProcessSettings>({
  name,
  read,
  start,
  isMisuse = () => false,
}: RunProcessOptions<Settings>): Promise<void> {
  // Whether anybody reads what a person should is no matter of life and death, here or in any warning of the runtime's.
  process.stderr.on("error", () => undefined);
  let settings: Settings;
  try {
    settings = await read();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = exitCodeOf(error);
    return;
  }
  const { logLevel, shutdownGraceMs } = settings.config;
  const logger = createLogger({ name, level: logLevel });
  const shutdown = createShutdown({ graceMs: shutdownGraceMs, logger });
  try {
    await start({ ...settings, logger, shutdown });
  } catch (error) {
    // Being asked to stop in the middle of the start is no failure of the start.
    if (shutdown.signal.aborted) return;
    logger.fatal({ err: error }, `the ${name} cannot start`);
    await shutdown.begin("the start failed", isMisuse(error) ? EXIT.usage : exitCodeOf(error));
  }
}
