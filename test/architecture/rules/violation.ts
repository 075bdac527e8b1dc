/** One place where the source breaks a rule. `where` is a path, or a path and a name joined by `#`. */
export interface Violation {
  readonly where: string;
  readonly line: number;
  readonly says: string;
}

/** An exception that somebody argued for. It must still be needed: an entry nobody breaks is an error itself. */
export interface Allowed {
  readonly where: string;
  readonly reason: string;
}

/** What is left of `violations` once the allowed ones are taken out, plus every allowance that is no longer needed. */
export function beyond(violations: readonly Violation[], allowed: readonly Allowed[]): string[] {
  const reasons = new Map(allowed.map((entry) => [entry.where, entry.reason]));
  const needed = new Set(violations.map((violation) => violation.where));
  const open = violations
    .filter((violation) => !reasons.has(violation.where))
    .map((violation) => `${violation.where}:${violation.line} ${violation.says}`);
  const idle = allowed
    .filter((entry) => !needed.has(entry.where))
    .map(
      (entry) => `${entry.where} is allowed ("${entry.reason}") but nothing there needs it: drop the entry`,
    );
  const unreasoned = allowed
    .filter((entry) => entry.reason.trim().length < 15)
    .map((entry) => `${entry.where} is allowed without a reason worth reading`);
  return [...open, ...idle, ...unreasoned];
}
