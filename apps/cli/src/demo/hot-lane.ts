import type { LaneReport } from "@junban/handoff-lock";
import type { EventReport } from "@junban/order-store";
import { requestOf, type EventEnvelope } from "@junban/orders";
import type { Services } from "../services.ts";

/** The busiest order's lane, seen from outside: by its lock in Redis and its rows in Postgres, never by asking a worker. */
export class HotLane {
  readonly lcid: string;
  /** First sendings, in publish order. */
  readonly events: readonly EventEnvelope[];
  readonly #services: Pick<Services, "lanes" | "store">;
  readonly #indexes: ReadonlyMap<string, number>;

  constructor(options: {
    lcid: string;
    events: readonly EventEnvelope[];
    services: Pick<Services, "lanes" | "store">;
  }) {
    this.lcid = options.lcid;
    this.events = options.events;
    this.#services = options.services;
    this.#indexes = new Map(options.events.map((event, index) => [requestOf(event).key, index]));
  }

  async inspect(): Promise<LaneReport> {
    return this.#services.lanes().inspect(this.lcid);
  }

  /** Which event a request in the lane carries. */
  indexOf(requestKey: string): number | undefined {
    return this.#indexes.get(requestKey);
  }

  /** The row of one event; null while it has none. */
  async rowAt(index: number): Promise<EventReport | null> {
    const event = this.events[index];
    return event === undefined ? null : this.#services.store().readEvent(event);
  }

  /** How many events have a row. They get them in publish order, so a few looks find the border. */
  async decided(atLeast = 0): Promise<number> {
    let low = atLeast;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((await this.rowAt(middle)) === null) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
