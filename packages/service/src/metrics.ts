import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, Registry, collectDefaultMetrics } from "prom-client";

export interface ProcessMetrics {
  /** Where a process adds its own metrics. No label may hold an lcid, an id or anything else without a small bound. */
  readonly registry: Registry;
  /** Prometheus text for `/metrics`. */
  text(): Promise<string>;
  /** Stops measuring. */
  close(): void;
}

export interface ShownReadiness {
  /** What kind of process this is, such as `worker`. */
  readonly process: string;
  /** The check behind `/readyz`. */
  readonly ready: () => Promise<{ readonly ok: boolean }>;
}

/** All of the house carries one version, this package's too. */
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

/**
 * A registry of its own (never the library's global one) with memory, CPU, the build and the event loop's lag already in it, and
 * `junban_ready` of a process that says whether it is.
 */
export function createProcessMetrics(readiness?: ShownReadiness): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "junban_build_info",
    help: "1, with the version that this process was built from",
    labelNames: ["version"],
    registers: [registry],
  }).set({ version }, 1);
  if (readiness !== undefined) showReadiness(registry, readiness);
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const lag = new Gauge({
    name: "junban_event_loop_lag_seconds",
    help: "99th percentile of how late timers ran since the last scrape",
    registers: [registry],
    collect() {
      // The histogram measures whole intervals, so an idle loop shows the resolution itself.
      lag.set(Math.max(0, delay.percentile(99) / 1e9 - 0.02));
      delay.reset();
    },
  });
  return {
    registry,
    text: async () => registry.metrics(),
    close: () => {
      delay.disable();
      registry.clear();
    },
  };
}

/** The check itself is asked at each scrape: in an outage every other figure may stand still. A check that fails is a no. */
function showReadiness(registry: Registry, { process, ready }: ShownReadiness): void {
  const gauge = new Gauge({
    name: "junban_ready",
    help: "1 while this process is ready to do its work; /readyz says what stands in its way",
    labelNames: ["process"],
    registers: [registry],
    async collect() {
      const isReady = await ready().then(
        ({ ok }) => ok,
        () => false,
      );
      gauge.set({ process }, isReady ? 1 : 0);
    },
  });
}
