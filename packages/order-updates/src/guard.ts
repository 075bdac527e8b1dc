import type { Gap } from "./contract.ts";

export interface Notice {
  readonly lcid: string;
  readonly version: number;
}

/** What became of a notice at the guard. */
export type Passage =
  | { readonly kind: "handled"; readonly gap: Gap | null }
  /** This version or a later one was handled before. */
  | { readonly kind: "skipped"; readonly last: number }
  /** Versions before it, so many, have yet to be handled. */
  | { readonly kind: "waiting"; readonly missing: number }
  /** Another consumer of this name is at this order. */
  | { readonly kind: "busy" };

/** Remembers the last version of each order for one name, and lets one consumer at a time pass. */
export interface Guard<Context> {
  /** Runs `act` if it is the notice's turn, and remembers its version. Rejects as `act` does, and then remembers nothing. */
  pass(notice: Notice, act: (gap: Gap | null, context: Context) => Promise<void>): Promise<Passage>;
  close(): Promise<void>;
}

export type Verdict =
  | { readonly kind: "go"; readonly gap: Gap | null }
  | Extract<Passage, { readonly kind: "skipped" | "waiting" }>;

/**
 * `waitedMs` counts from when an order's first too early version arrived, or from when it came again after the version that is due had
 * arrived and was not handled; null when none waits.
 */
export function judge(arrival: {
  readonly version: number;
  readonly last: number;
  readonly waitedMs: number | null;
  readonly gapWaitMs: number;
}): Verdict {
  const { version, last, waitedMs, gapWaitMs } = arrival;
  const expected = last + 1;
  if (version < expected) return { kind: "skipped", last };
  if (version === expected) return { kind: "go", gap: null };
  if ((waitedMs ?? 0) < gapWaitMs) return { kind: "waiting", missing: version - expected };
  return { kind: "go", gap: { expected, got: version } };
}
