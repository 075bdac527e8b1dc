import { isDenied } from "@junban/operations";
import { reachWithin } from "@junban/service";
import type { Command } from "commander";
import { FoundWrong } from "./exit.ts";
import { createPrinter, type Printer } from "./printing.ts";
import { servicesFor, type Services } from "./services.ts";

/** What a command works with. */
export interface Setting {
  readonly services: Services;
  readonly printer: Printer;
  /** Fires on Ctrl-C: long commands end early, say how far they came, and exit with 1. */
  readonly signal: AbortSignal;
}

export interface Registration {
  readonly program: Command;
  readonly env: NodeJS.ProcessEnv;
}

/** How long a command waits for a service that is not there (yet), saying so once a second. */
const REACH_WITHIN_MS = 5_000;

interface Needs {
  readonly env: NodeJS.ProcessEnv;
  readonly need: readonly ("database" | "redis")[];
  /** False for a command that has a patience of its own. Default true. */
  readonly reach?: boolean;
}

/** Opens what the command needs, waits a moment for what is not there, runs it, and closes everything again. */
export async function withSetting(
  { env, need, reach = true }: Needs,
  run: (setting: Setting) => Promise<void>,
): Promise<void> {
  const services = servicesFor(env, need);
  const interrupt = new AbortController();
  const onInterrupt = (): void => interrupt.abort(new FoundWrong("interrupted"));
  process.once("SIGINT", onInterrupt);
  try {
    const printer = createPrinter(process);
    const { signal } = interrupt;
    // A wrong password does not get right by waiting.
    const patience = {
      limitMs: REACH_WITHIN_MS,
      say: (line: string) => printer.note(line),
      isFinal: isDenied,
      signal,
    };
    if (reach && need.includes("database")) {
      const { databaseUrl: address } = services.config;
      const probe = (): Promise<void> => services.store().ping();
      await reachWithin({ service: "Postgres", address, probe, ...patience });
    }
    if (reach && need.includes("redis")) {
      const { redisUrl: address } = services.config;
      const probe = async (): Promise<void> => void (await services.queues().counts());
      await reachWithin({ service: "Redis", address, probe, ...patience });
    }
    await run({ services, printer, signal });
  } finally {
    process.removeListener("SIGINT", onInterrupt);
    await services.close();
  }
}
