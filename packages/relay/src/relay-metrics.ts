import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { RelayObserver } from "./ports.ts";

/** What a relay counts. No labels, so that the number of series is fixed. */
export class RelayMetrics implements RelayObserver {
  readonly #passedOn: Counter;
  readonly #parked: Counter;
  readonly #leads: Gauge;
  readonly #lag: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#passedOn = new Counter({
      name: "junban_updates_passed_on_total",
      help: "Order updates put into their queue by this process",
      registers,
    });
    this.#parked = new Counter({
      name: "junban_updates_parked_total",
      help: "Order updates parked by this process because the queue refused them and no others",
      registers,
    });
    this.#leads = new Gauge({
      name: "junban_relay_leads",
      help: "1 while this process passes the fleet's order updates on",
      registers,
    });
    this.#lag = new Gauge({
      name: "junban_updates_lag_seconds",
      help: "Age of the oldest order update that waits, seen by the relay that leads; 0 in the others",
      registers,
    });
  }

  lag(ms: number): void {
    this.#lag.set(ms / 1_000);
  }

  passedOn(count: number): void {
    this.#passedOn.inc(count);
  }

  parked(): void {
    this.#parked.inc();
  }

  leads(isLeading: boolean): void {
    this.#leads.set(isLeading ? 1 : 0);
  }
}
