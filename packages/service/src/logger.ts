import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";
import { redactedFields, redactedText } from "./redaction.ts";
import { StandardOutput } from "./standard-output.ts";

export type { Logger } from "pino";

export interface CreateLoggerOptions {
  /** The process, such as `worker`; a field of every entry. */
  name: string;
  /** As in LOG_LEVEL. */
  level: LoggerOptions["level"];
  /** Default: standard output, written at once and never waited for. */
  destination?: DestinationStream;
}

/**
 * JSON lines in which payloads, passwords and other secrets never appear, on any level, in fields, messages and errors alike.
 * Pass what belongs to an entry as fields (`logger.warn({ lcid, err }, "sentence")`); do not build messages from payloads.
 */
export function createLogger({
  name,
  level,
  destination = new StandardOutput(),
}: CreateLoggerOptions): Logger {
  const options: LoggerOptions = {
    name,
    level: level ?? "info",
    // The time as people read it; entries of several hosts are compared by it.
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: {
      level: (label) => ({ level: label }),
    },
    hooks: {
      // Before pino sees anything: it would take the message of an error as the entry's, and format objects into it.
      logMethod(args, method) {
        const clean = args.map((arg: unknown) => {
          if (typeof arg === "string") return redactedText(arg);
          return typeof arg === "object" && arg !== null ? redactedFields(arg) : arg;
        });
        method.apply(this, clean as Parameters<typeof method>);
      },
    },
    // Errors have become plain fields above.
    serializers: { err: (value: unknown) => value },
  };
  return withRedactedBindings(pino(options, destination));
}

/** Fields that a child repeats in each entry do not pass the hook above. Children inherit these methods, and theirs do too. */
function withRedactedBindings(logger: Logger): Logger {
  for (const name of ["child", "setBindings"] as const) {
    const original = Reflect.get(logger, name) as (this: Logger, ...args: readonly unknown[]) => unknown;
    Object.defineProperty(logger, name, {
      value(this: Logger, bindings: object, ...rest: readonly unknown[]) {
        return original.call(this, redactedFields(bindings), ...rest);
      },
    });
  }
  return logger;
}
