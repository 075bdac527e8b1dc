import { decide } from "./decide.ts";
import type { Decision } from "./decision.ts";
import type { OrderEvent } from "./event.ts";
import { emptyOrder } from "./state.ts";
import type { OrderState } from "./state.ts";

type Unapplied = Exclude<Decision, { kind: "applied" }>;

interface HistoryErrorData {
  readonly lcid: string;
  /** Counted from 0. */
  readonly index: number;
  readonly type: string;
  readonly decision: Unapplied;
}

/** Thrown when an event of a history that was applied once cannot be applied again in the same place. */
export class HistoryError extends Error implements HistoryErrorData {
  override readonly name = "HistoryError";
  readonly code = "HISTORY_NOT_APPLICABLE";
  readonly lcid: string;
  readonly index: number;
  readonly type: string;
  readonly decision: Unapplied;

  constructor({ lcid, index, type, decision }: HistoryErrorData, options?: ErrorOptions) {
    super(`event ${index} (${type}) of order ${lcid} is ${decision.kind}, not applied`, options);
    this.lcid = lcid;
    this.index = index;
    this.type = type;
    this.decision = decision;
  }
}

/**
 * Builds an order again from its applied events, in the order of their versions. Throws HistoryError when one does not apply.
 *
 * @param seen looks at the order after each event. What it is shown goes on changing, so it keeps what it reads and not that.
 */
export function fold(
  lcid: string,
  events: Iterable<OrderEvent>,
  seen: (state: OrderState) => void = () => undefined,
): OrderState {
  const state = emptyOrder(lcid);
  let index = 0;
  for (const event of events) {
    const decision = decide(state, event);
    if (decision.kind !== "applied") throw new HistoryError({ lcid, index, type: event.type, decision });
    state.apply(decision.change);
    seen(state);
    index += 1;
  }
  return state;
}
