import type { QueueReader } from "@junban/event-queues";
import type { Lanes } from "@junban/handoff-lock";
import type { OrderStore } from "@junban/order-store";

/** The three things an operator looks at. Whoever opened them closes them. */
export interface Fleet {
  readonly store: OrderStore;
  readonly lanes: Lanes;
  readonly queues: QueueReader;
}
