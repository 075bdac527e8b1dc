import { UsageError } from "./exit.ts";

/** Reads an option's whole number. @throws {UsageError} naming the option and what it allows. */
export function wholeNumber(
  text: string,
  { name, min, max }: { name: string; min: number; max: number },
): number {
  const value = /^\d{1,15}$/u.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new UsageError(`${name} takes a whole number ${min}…${max}, not "${text}"`);
  }
  return value;
}
