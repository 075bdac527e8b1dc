import { readEnvelope } from "@junban/orders";
import { SpanKind, type Tracer } from "@opentelemetry/api";
import { eventAttributes, messageAttributes, queueOf } from "./attributes.ts";
import { contextCarriedBy } from "./carried-context.ts";
import { failWith, spanning } from "./failed-span.ts";
import type { ProcessJob } from "./tracing.ts";

/** A job's time in a slot, until it ends or is put back. The event itself may be applied in another process meanwhile. */
export function tracedJobs(tracer: Tracer, process: ProcessJob): ProcessJob {
  return async (job) => {
    const reading = readEnvelope(job.data);
    const carried = reading.kind === "usable" ? contextCarriedBy(reading.envelope) : null;
    if (reading.kind === "unusable" || carried === null) return process(job);
    const queue = queueOf(reading.envelope);
    const attributes = {
      ...messageAttributes({ queue, operation: "process", type: "process" }),
      ...eventAttributes(reading.envelope),
      "junban.job.id": job.id,
      "junban.job.steps_back": job.stepsBack,
    };
    const span = tracer.startSpan(`process ${queue}`, { kind: SpanKind.CONSUMER, attributes }, carried);
    return spanning(span, async () => {
      const end = await process(job);
      span.setAttribute("junban.job.end", end.kind);
      if (end.kind === "unusable") failWith(span, "UNUSABLE");
      return end;
    });
  };
}
