import { QueueUnavailableError } from "@junban/event-queues";
import { LaneNameError, LaneUnavailableError, OutOfMemoryError } from "@junban/handoff-lock";
import { isDenied, isFull, LaneBusyError, NotNotedError, SubscriberServedError } from "@junban/operations";
import { ConnectionLostError, TripTimeoutError } from "@junban/order-store";
import { ConfigError, errorLine, EXIT, UnreachableError } from "@junban/service";
import { CommanderError } from "commander";

/** What a command ends with when it ran and found something wrong. */
export class FoundWrong extends Error {
  readonly code = "FOUND_WRONG";
}

/** What a command ends with that said by itself which service it could not reach, and did the rest. */
export class OutOfReach extends Error {
  readonly code = "OUT_OF_REACH";
}

/** Thrown for arguments that commander cannot check by itself. */
export class UsageError extends Error {
  readonly code = "USAGE";
}

/** How an error ends the process: with which code, and what people are told on standard error. */
export interface Ending {
  readonly code: number;
  readonly lines: readonly string[];
}

const USAGE = [UsageError, ConfigError, LaneNameError] as const;
const WRONG = [FoundWrong, LaneBusyError, SubscriberServedError] as const;
const UNREACHED = [UnreachableError, OutOfReach] as const;
const POSTGRES_AWAY = [ConnectionLostError, TripTimeoutError] as const;
const REDIS_AWAY = [QueueUnavailableError, LaneUnavailableError, OutOfMemoryError] as const;
/** Who may not in, which database is not there, and a server that starts or stops. */
const REFUSED_STATES: ReadonlySet<string> = new Set(["28", "3D", "57"]);
const UNDEFINED_TABLE = "42P01";

/** `addresses` names the services without passwords, for errors that do not know where they tried. */
export function endingOf(error: unknown, addresses: { redis: string; postgres: string }): Ending {
  if (error instanceof CommanderError) {
    return { code: error.exitCode === 0 ? EXIT.done : EXIT.usage, lines: [] };
  }
  // What this command says itself repeats only what its caller typed; what others say may repeat anything.
  if (isOneOf(error, USAGE)) return ending(EXIT.usage, error.message);
  if (isOneOf(error, WRONG)) return ending(EXIT.wrong, error.message);
  // Waited for in vain, but there.
  if (error instanceof UnreachableError && isRefused(error.cause)) return endingOf(error.cause, addresses);
  if (isOneOf(error, UNREACHED)) return ending(EXIT.unreachable, error.message);
  if (error instanceof NotNotedError) {
    const { code, lines } = endingOf(error.cause, addresses);
    return { code, lines: [error.message, ...lines] };
  }
  const message = errorLine(error);
  if (isOneOf(error, POSTGRES_AWAY)) {
    return {
      code: EXIT.unreachable,
      lines: [`Postgres at ${addresses.postgres} cannot be reached: ${message}`],
    };
  }
  if (isOneOf(error, REDIS_AWAY)) {
    const [verb, why] = isDenied(error) ? ["refuses", denialOf(error)] : ["cannot be used", message];
    return { code: EXIT.unreachable, lines: [`Redis at ${addresses.redis} ${verb}: ${why}`] };
  }
  if (isRefused(error)) {
    return { code: EXIT.unreachable, lines: [`Postgres at ${addresses.postgres} refuses: ${message}`] };
  }
  if (sqlState(error) === UNDEFINED_TABLE) {
    return {
      code: EXIT.wrong,
      lines: ["the database has no tables of Junban yet: run `junban migrate` first"],
    };
  }
  return ending(EXIT.wrong, message);
}

function isRefused(error: unknown): boolean {
  return isFull(error) || REFUSED_STATES.has(sqlState(error)?.slice(0, 2) ?? "");
}

function isOneOf(error: unknown, kinds: readonly (abstract new (...args: never) => Error)[]): error is Error {
  return kinds.some((kind) => error instanceof kind);
}

/** What Redis said, without what was made of it on the way. */
function denialOf(error: Error): string {
  return errorLine(error.cause instanceof Error ? error.cause : error);
}

function ending(code: number, message: string): Ending {
  return { code, lines: message === "" ? [] : message.split("\n") };
}

function sqlState(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
