import type { Backlog, Forwarder, ForwardObserver } from "@junban/upstream-outbox";
import { Counter, Gauge, Histogram } from "prom-client";
import type { Registry } from "prom-client";

const LAG_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 3_600];
/** Without a connection: an old figure would look like a true one. */
const UNKNOWN: Backlog = { waiting: Number.NaN, parked: Number.NaN, oldestSeconds: Number.NaN };

/** What this process counts, and what the outbox holds when it is scraped. No label, so the number of series is fixed. */
export class ForwardMetrics {
  readonly #forwarded: Counter;
  readonly #parked: Counter;
  readonly #lag: Histogram;

  constructor({ registry, forwarder }: { registry: Registry; forwarder: () => Forwarder | null }) {
    const registers = [registry];
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
    const read = (name: string, help: string, value: () => number | Promise<number>): void => {
      // The registry keeps it; `collect` is called at each scrape.
      const watched: Gauge = new Gauge({
        name,
        help,
        registers,
        collect: async () => watched.set(await value()),
      });
    };
    const backlog = oncePerScrape(async () => (await forwarder()?.backlog()) ?? UNKNOWN);
    read("junban_forward_waiting", "Rows that wait to be forwarded, counted up to 100,000", async () => {
      return (await backlog()).waiting;
    });
    read("junban_forward_parked", "Rows that stand parked, counted up to 100,000", async () => {
      return (await backlog()).parked;
    });
    read("junban_forward_oldest_seconds", "Age of the first row that waits", async () => {
      return (await backlog()).oldestSeconds;
    });
    read("junban_forward_active", "1 while this process is the forwarder that leads", () => {
      return forwarder()?.state().role === "active" ? 1 : 0;
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

/** The gauges of one scrape are read side by side, and the database is asked once for all of them. */
function oncePerScrape(ask: () => Promise<Backlog>): () => Promise<Backlog> {
  let asked: Promise<Backlog> | undefined;
  return async () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    return asked;
  };
}
