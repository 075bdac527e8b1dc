import type { Forwarder, ForwardObserver } from "@junban/upstream-outbox";
import { Counter, Gauge, Histogram } from "prom-client";
import type { Registry } from "prom-client";

const LAG_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 3_600];

/** What this process counts, and what the outbox holds when it is scraped. No label, so the number of series is fixed. */
export class ForwardMetrics {
  readonly #forwarded: Counter;
  readonly #parked: Counter;
  readonly #lag: Histogram;

  constructor({ registry, forwarder }: { registry: Registry; forwarder: () => Forwarder | null }) {
    const registers = [registry];
    const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
    this.#forwarded = new Counter({
      name: "junban_forward_rows_total",
      help: "Rows published and marked",
      registers,
    });
    this.#parked = new Counter({
      name: "junban_forward_parked_total",
      help: "Rows parked because their event can never be published",
      registers,
    });
    this.#lag = new Histogram({
      name: "junban_forward_lag_seconds",
      help: "From enqueueing to being read for publishing",
      buckets: LAG_SECONDS,
      registers,
    });
    const waiting = gauge("junban_forward_waiting", "Rows that wait to be forwarded, counted up to 100,000");
    const standing = gauge("junban_forward_parked", "Rows that stand parked, counted up to 100,000");
    const oldest = gauge("junban_forward_oldest_seconds", "Age of the first row that waits");
    const active: Gauge = new Gauge({
      name: "junban_forward_active",
      help: "1 while this process is the forwarder that leads",
      registers,
      collect: async () => {
        active.set(forwarder()?.state().role === "active" ? 1 : 0);
        const backlog = (await forwarder()?.backlog()) ?? null;
        if (backlog === null) return;
        waiting.set(backlog.waiting);
        standing.set(backlog.parked);
        oldest.set(backlog.oldestSeconds);
      },
    });
  }

  forwarded(rows: Parameters<ForwardObserver["forwarded"]>[0]): void {
    this.#forwarded.inc(rows.length);
    for (const { ageSeconds } of rows) this.#lag.observe(Math.max(0, ageSeconds));
  }

  parked(): void {
    this.#parked.inc();
  }
}
