import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { SweepReport } from "./sweeper.ts";

/** Figures about the whole fleet, as the one process that sweeps sees them; the others show 0. */
export class SweepGauges {
  readonly #deepest: Gauge;
  readonly #standing: Gauge;
  readonly #held: Gauge;
  readonly #dueSoon: Gauge;
  readonly #halted: Gauge;
  readonly #dead: Gauge;
  readonly #alerts: Gauge<"kind">;
  readonly #outboxLag: Gauge;
  readonly #unpublished: Gauge;
  readonly #parked: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    const gauge = <Label extends string>(
      name: string,
      help: string,
      labelNames: readonly Label[] = [],
    ): Gauge<Label> =>
      new Gauge({ name, help: `${help}; from the sweeping process`, registers, labelNames: [...labelNames] });
    this.#deepest = gauge("junban_lane_depth_deepest", "Requests in the deepest lane");
    this.#standing = gauge("junban_requests_standing", "Requests in all lanes, those being served included");
    this.#held = gauge("junban_deferrals_held", "Events held for a prerequisite");
    this.#dueSoon = gauge(
      "junban_deferrals_due_soon",
      "Held events that reach their deadline within two hours",
    );
    this.#halted = gauge("junban_orders_halted", "Orders that stand behind a failed event");
    this.#dead = gauge("junban_dead_letters", "Events that failed and halt their order");
    this.#alerts = gauge("junban_alerts", "Alerts on orders that nobody has acknowledged", ["kind"]);
    this.#outboxLag = gauge(
      "junban_outbox_lag_seconds",
      "Age of the oldest outbox row that waits to be passed on",
    );
    this.#unpublished = gauge("junban_outbox_unpublished", "Outbox rows that wait to be passed on");
    this.#parked = gauge("junban_outbox_parked", "Outbox rows that cannot be passed on");
    // From the start, so that "no alert" reads 0 and not "no data".
    this.#setAlerts({ alerts: 0, overCaptures: 0, cancelledShipments: 0 });
  }

  set({ deepestLane, standing, gauges }: SweepReport): void {
    this.#deepest.set(deepestLane);
    this.#standing.set(standing);
    if (gauges === null) return;
    this.#held.set(gauges.held);
    this.#dueSoon.set(gauges.heldDueSoon);
    this.#halted.set(gauges.halted);
    this.#dead.set(gauges.failed);
    this.#setAlerts(gauges);
    this.#outboxLag.set(gauges.outboxLagMs / 1_000);
    this.#unpublished.set(gauges.outboxUnpublished);
    this.#parked.set(gauges.outboxParked);
  }

  #setAlerts(counted: {
    readonly alerts: number;
    readonly overCaptures: number;
    readonly cancelledShipments: number;
  }): void {
    const { alerts, overCaptures, cancelledShipments } = counted;
    this.#alerts.set({ kind: "over_capture" }, overCaptures);
    this.#alerts.set({ kind: "cancelled_shipment" }, cancelledShipments);
    this.#alerts.set({ kind: "other" }, alerts - overCaptures - cancelledShipments);
  }
}
