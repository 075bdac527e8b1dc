import type { Decision } from "./decision.ts";
import type { OrderEvent } from "./event.ts";
import type { OrderView } from "./order.ts";

export function decide(_view: OrderView, _event: OrderEvent): Decision {
  throw new Error("not written yet");
}
