import { QueueUnavailableError } from "@junban/event-queues";
import { LaneUnavailableError } from "@junban/handoff-lock";
import {
  classifyTrouble,
  CommitUnknownError,
  describeTrouble,
  EventNotFoundError,
  NoAlertError,
  NotCommittedError,
  PoolBusyError,
  ReleaseInterruptedError,
  WrongOutcomeError,
} from "@junban/order-store";
import {
  DeadJobNotFoundError,
  LaneBusyError,
  LaneHolderGoneError,
  SubscriberServedError,
} from "../errors.ts";

/** What is known of an act that ended with an error, for people. It never holds the error's own message, unless that is ours. */
export interface FailedAct {
  /**
   * `nothing`: for certain; `part`: the event itself was decided, and what it blocked was not; `unknown`: it may have been carried out
   * or not.
   */
  readonly changed: "nothing" | "part" | "unknown";
  /** Why, and what to do next. */
  readonly says: string;
  /** Whether the next act would fare no better: a service is away, or has no tables. */
  readonly isForAll: boolean;
}

export interface FailedActOptions {
  /** Whether the act is a step in Redis, so that a Redis that did not answer may have taken it. Default false. */
  readonly inRedis?: boolean;
}

/** Their words are ours, and repeat nothing but what was asked for. */
const REFUSED = [
  EventNotFoundError,
  NoAlertError,
  WrongOutcomeError,
  DeadJobNotFoundError,
  LaneBusyError,
  LaneHolderGoneError,
  SubscriberServedError,
] as const;

const UNDEFINED_TABLE = "42P01";

export function failedAct(error: unknown, { inRedis = false }: FailedActOptions = {}): FailedAct {
  if (REFUSED.some((kind) => error instanceof kind)) return nothing((error as Error).message);
  if (error instanceof ReleaseInterruptedError) {
    const cause = why(error.cause);
    const says = `${error.message} (${cause}); the fleet tries that again by itself`;
    return { changed: "part", says, isForAll: false };
  }
  if (error instanceof CommitUnknownError) {
    return unknown("Postgres did not answer when it was to commit: look at it before you try again");
  }
  if (error instanceof QueueUnavailableError || error instanceof LaneUnavailableError) {
    return inRedis
      ? { ...unknown("Redis did not answer: look at it before you try again"), isForAll: true }
      : forAll("Redis does not answer, so the order's lane could not be entered: try again once it does");
  }
  return ofPostgres(error);
}

function ofPostgres(error: unknown): FailedAct {
  if (error instanceof PoolBusyError) return nothing("too much is asked of Postgres at once: try again");
  if (error instanceof NotCommittedError) return nothing("Postgres rolled it back: try again");
  switch (classifyTrouble(error)) {
    case "lost": {
      return forAll("Postgres does not answer: try again once it does");
    }
    case "passing": {
      return nothing(`the order is busy: try again (${why(error)})`);
    }
    case "tooLong": {
      return nothing(`Postgres did not get it done in time: try again (${why(error)})`);
    }
    case "inbox":
    case "content": {
      return nothing(`Postgres still refuses it: mend the cause and replay again (${why(error)})`);
    }
    case "unknown": {
      if (stateOf(error) === UNDEFINED_TABLE) return forAll("the database lacks a table: run junban migrate");
      return stateOf(error) !== null
        ? nothing(`Postgres refuses it: mend the cause and try again (${why(error)})`)
        : unknown(`a fault that nobody foresaw (${why(error)})`);
    }
  }
}

function why(error: unknown): string {
  return describeTrouble(error);
}

/** By SQLSTATE is known what the server itself said, about a transaction that it has rolled back. */
function stateOf(error: unknown): string | null {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

function nothing(says: string): FailedAct {
  return { changed: "nothing", says, isForAll: false };
}

function forAll(says: string): FailedAct {
  return { ...nothing(says), isForAll: true };
}

function unknown(says: string): FailedAct {
  return { changed: "unknown", says, isForAll: false };
}
