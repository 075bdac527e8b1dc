import type { Settlement } from "@junban/handoff-lock";
import type { Outcome, Settled } from "@junban/order-store";

/** What a lane keeps for a job about its event: small, and free of anything the payload said. */
export function settlementOf(settled: Settled): Settlement {
  const { key, outcome, reason, version } = settled;
  return { key, value: JSON.stringify({ outcome, reason, version }) };
}

const OUTCOMES: ReadonlySet<string> = new Set<Outcome>([
  "applied",
  "duplicate",
  "rejected",
  "deferred",
  "failed",
  "conflict",
]);

/**
 * The outcome inside a settlement that came through the lane. Operators' tools write settlements too, perhaps of a newer
 * version, so a value that this build cannot read is `unknown` and no reason to fail a job whose event is settled.
 */
export function outcomeOf(value: string): Outcome | "unknown" {
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed !== "object" || parsed === null || !("outcome" in parsed)) return "unknown";
    const outcome = parsed.outcome;
    return isOutcome(outcome) ? outcome : "unknown";
  } catch {
    return "unknown";
  }
}

function isOutcome(value: unknown): value is Outcome {
  return typeof value === "string" && OUTCOMES.has(value);
}
