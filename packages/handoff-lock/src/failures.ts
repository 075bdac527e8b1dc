import { LaneUnavailableError, OutOfMemoryError } from "./errors.ts";

// Redis answers, but cannot serve now. Before version 7 an error inside a script comes wrapped in a longer sentence.
const AWAY = /(?:^|[\s-])(?:LOADING|READONLY|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|NOREPLICAS)\s/;
const FULL = /(?:^|[\s-])OOM command not allowed/;

export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}

/** Whether a script stumbled over something in the lane's keys that no script puts there. */
export function isStumble(error: unknown): boolean {
  return error instanceof Error && /(?:^|[\s-])WRONGTYPE |value is not an integer/.test(error.message);
}

/**
 * What a failed call means to the caller. A refusal that Redis gives for another reason is a mistake in a script, and
 * passes unchanged.
 */
export function errorOfReply(error: unknown, { command, lcid }: { command: string; lcid: string }): Error {
  if (error instanceof LaneUnavailableError) return error;
  if (!(error instanceof Error) || error.name !== "ReplyError") {
    return new LaneUnavailableError({ command }, { cause: error });
  }
  if (FULL.test(error.message)) return new OutOfMemoryError({ lcid }, { cause: error });
  if (AWAY.test(error.message)) return new LaneUnavailableError({ command }, { cause: error });
  return error;
}
