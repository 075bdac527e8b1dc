import assert from "node:assert/strict";

/** Deep equality whose failure begins with what it was about and still shows the difference; usable outside of vitest. */
export function same(what: string, actual: unknown, expected: unknown): void {
  try {
    assert.deepEqual(actual, expected);
  } catch (error) {
    throw new Error(`${what}\n${(error as Error).message}`, { cause: error });
  }
}
