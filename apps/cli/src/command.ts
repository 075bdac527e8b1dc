import type { Command } from "commander";
import { createPrinter, type Printer } from "./printing.ts";
import { servicesFor, type Services } from "./services.ts";

/** What a command works with. */
export interface Setting {
  readonly services: Services;
  readonly printer: Printer;
  /** Fires on Ctrl-C: long commands end early, say how far they came, and exit 130. */
  readonly signal: AbortSignal;
}

export interface Registration {
  readonly program: Command;
  readonly env: NodeJS.ProcessEnv;
}

/** Opens what the command needs, runs it, and closes everything again. */
export async function withSetting(
  { env, need }: { env: NodeJS.ProcessEnv; need: readonly ("database" | "redis")[] },
  run: (setting: Setting) => Promise<void>,
): Promise<void> {
  const services = servicesFor(env, need);
  const interrupt = new AbortController();
  const onInterrupt = (): void => interrupt.abort();
  process.once("SIGINT", onInterrupt);
  try {
    await run({ services, printer: createPrinter(process), signal: interrupt.signal });
  } finally {
    process.removeListener("SIGINT", onInterrupt);
    await services.close();
  }
}
