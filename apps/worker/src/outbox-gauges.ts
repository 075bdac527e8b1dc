import type { StoreGauges } from "@junban/order-store";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";

/** What waits in the fleet's outbox, as the one process that sweeps sees it; the others show 0. */
export class OutboxGauges {
  readonly #lag: Gauge;
  readonly #unpublished: Gauge;
  readonly #parked: Gauge;

  constructor(registry: Registry) {
    const gauge = (name: string, help: string): Gauge =>
      new Gauge({ name, help: `${help}; from the sweeping process`, registers: [registry] });
    this.#lag = gauge("junban_outbox_lag_seconds", "Age of the oldest outbox row that waits to be passed on");
    this.#unpublished = gauge("junban_outbox_unpublished", "Outbox rows that wait to be passed on");
    this.#parked = gauge("junban_outbox_parked", "Outbox rows that cannot be passed on");
  }

  set({ outboxLagMs, outboxUnpublished, outboxParked }: StoreGauges): void {
    this.#lag.set(outboxLagMs / 1_000);
    this.#unpublished.set(outboxUnpublished);
    this.#parked.set(outboxParked);
  }
}
