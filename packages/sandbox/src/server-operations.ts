import { setTimeout as pause } from "node:timers/promises";
import type { ServerProcess } from "./server-process.ts";

/** What people may do with a running server, whichever server it is. */
export interface ServerOperations {
  restart(options?: { awayMs?: number }): Promise<void>;
  kill(signal?: NodeJS.Signals): Promise<void>;
  freeze(): void;
  resume(): void;
  logTail(): Promise<string>;
  stop(): Promise<void>;
}

/** How long a server may take to end cleanly before it is killed. */
export const END_WITHIN_MS = 20_000;

export function serverOperations(options: {
  server: ServerProcess;
  /** The signal that asks this server for a clean end. */
  endSignal: NodeJS.Signals;
  /** Resolves when the server answers again. */
  start: () => Promise<void>;
  /** Called once, however often `stop` is. */
  stopForGood: () => Promise<void>;
}): ServerOperations {
  const { server, endSignal, start, stopForGood } = options;
  let stopping: Promise<void> | undefined;
  return {
    restart: async ({ awayMs = 0 } = {}) => {
      await server.end({ signal: endSignal, withinMs: END_WITHIN_MS });
      await pause(awayMs);
      await start();
    },
    kill: async (signal = "SIGKILL") => {
      if (signal === "SIGKILL") await server.kill();
      else await server.end({ signal, withinMs: END_WITHIN_MS });
    },
    freeze: () => server.freeze(),
    resume: () => server.resume(),
    logTail: async () => server.logTail(),
    stop: async () => {
      stopping ??= stopForGood();
      await stopping;
    },
  };
}
