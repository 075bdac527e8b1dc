import type { OrderEvent } from "./event.ts";
import type { RefName } from "./order.ts";

/** Every reference that deciding this event may look up, besides the parent of each one found. */
export function referencesOf(_event: OrderEvent): readonly RefName[] {
  throw new Error("not written yet");
}
