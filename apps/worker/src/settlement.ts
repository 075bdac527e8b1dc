import type { Settlement } from "@junban/handoff-lock";
import type { Settled } from "@junban/order-store";

/** What a lane keeps for a job about its event: small, and free of anything the payload said. */
export function settlementOf(settled: Settled): Settlement {
  const { key, outcome, reason, version } = settled;
  return { key, value: JSON.stringify({ outcome, reason, version }) };
}
