import ms from "ms";
import { UsageError } from "./exit.ts";

/**
 * Reads `60s`, `2h`, `400d`. @throws {UsageError} for anything else: a number alone, which would be milliseconds and is never meant
 * so, and what is not positive.
 */
export function durationMs(text: string): number {
  const read = /^\d.*[a-z]$/iu.test(text) ? ms(text as ms.StringValue) : undefined;
  if (read === undefined || !Number.isSafeInteger(read) || read <= 0) {
    throw new UsageError(
      `"${text}" is not a duration: write a number and a unit, such as 60s, 15m, 2h or 400d`,
    );
  }
  return read;
}
