import type { TraceSettings } from "@junban/service";
import type { Tracing } from "./tracing.ts";
import type { OutageLogger } from "./watched-exporter.ts";

export interface StartTracingOptions {
  /** As a process reads them from its environment; null means off. */
  readonly settings: TraceSettings | null;
  /** What the process is called; `OTEL_SERVICE_NAME` counts more. */
  readonly serviceName: string;
  readonly logger: OutageLogger;
}

/** Null when traces are off: then neither SDK nor exporter is even loaded. */
export async function startTracing(options: StartTracingOptions): Promise<Tracing | null> {
  const { settings, serviceName, logger } = options;
  if (settings === null) return null;
  const [{ exportingProvider }, { SpanTracing }] = await Promise.all([
    import("./exporting-provider.ts"),
    import("./span-tracing.ts"),
  ]);
  const provider = exportingProvider({ settings, serviceName, logger });
  return new SpanTracing({ provider, close: async () => provider.shutdown() });
}

/**
 * For a producer or a subscriber that has OpenTelemetry already: spans go to the provider that it has registered. Closing this
 * ends nothing of it.
 */
export async function joinTracing(): Promise<Tracing> {
  const [{ trace }, { SpanTracing }] = await Promise.all([
    import("@opentelemetry/api"),
    import("./span-tracing.ts"),
  ]);
  return new SpanTracing({ provider: trace.getTracerProvider(), close: async () => Promise.resolve() });
}
