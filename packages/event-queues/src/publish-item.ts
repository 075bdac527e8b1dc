import type { PreparedEvent } from "./prepared-event.ts";
import type { PublishCall } from "./publish-call.ts";

/** An event on its way, and its place in the call it came with. */
export interface Item {
  readonly call: PublishCall;
  readonly index: number;
  readonly prepared: PreparedEvent;
}

/** An event whose request stands in its lane. */
export interface StandingItem extends Item {
  readonly depth: number;
}
