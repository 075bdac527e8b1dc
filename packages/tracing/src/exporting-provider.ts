import { randomUUID } from "node:crypto";
import type { TraceSettings } from "@junban/service";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import type { Resource } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Sampler } from "@opentelemetry/sdk-trace";
import { WatchedExporter, type OutageLogger } from "./watched-exporter.ts";

/** As many events as a transaction or a batch of the relay may have; the library's own limit is 128. */
const MOST_LINKS = 1_000;
/** Spans that wait to be sent; further ones are dropped. A receiver that hangs costs so much memory and no more. */
const MOST_WAITING = 8_192;
const MOST_AT_ONCE = 512;
const SEND_EVERY_MS = 1_000;

/** Sends spans to the collector that the standard variables name. Nobody ever waits for it. */
export function exportingProvider({
  settings,
  serviceName,
  logger,
}: {
  readonly settings: TraceSettings;
  readonly serviceName: string;
  readonly logger: OutageLogger;
}): TracerProvider {
  const exporter = new WatchedExporter(new OTLPTraceExporter(), logger);
  return new TracerProvider({
    resource: resourceOf(serviceName),
    sampler: samplerOf(settings),
    spanLimits: { linkCountLimit: MOST_LINKS },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: MOST_WAITING,
        maxExportBatchSize: MOST_AT_ONCE,
        scheduledDelayMillis: SEND_EVERY_MS,
      }),
    ],
  });
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` add to it, and count more. */
function resourceOf(serviceName: string): Resource {
  const own = resourceFromAttributes({
    "service.name": serviceName,
    "service.namespace": "junban",
    "service.instance.id": randomUUID(),
  });
  return own.merge(detectResources({ detectors: [envDetector] }));
}

function samplerOf({ sampler, ratio }: TraceSettings): Sampler {
  switch (sampler) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratio);
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}
