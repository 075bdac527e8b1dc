import type { Decision } from "./decision.ts";
import type { OrderEvent } from "./event.ts";
import type { OrderState } from "./state.ts";

/** Thrown when an event of an applied history cannot be applied again. */
export class HistoryError extends Error {
  override readonly name = "HistoryError";
  readonly code = "HISTORY_NOT_APPLICABLE";
  readonly lcid: string;
  readonly index: number;
  readonly type: string;
  readonly decision: Exclude<Decision, { kind: "applied" }>;

  constructor(
    at: { lcid: string; index: number; type: string; decision: Exclude<Decision, { kind: "applied" }> },
    options?: ErrorOptions,
  ) {
    super(`event ${at.index} (${at.type}) of order ${at.lcid} is ${at.decision.kind}, not applied`, options);
    this.lcid = at.lcid;
    this.index = at.index;
    this.type = at.type;
    this.decision = at.decision;
  }
}

export function fold(_lcid: string, _events: Iterable<OrderEvent>): OrderState {
  throw new Error("not written yet");
}
