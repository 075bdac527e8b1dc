/**
 * An event's way as one trace of OpenTelemetry: published, carried by its job, standing in its lane, applied by a transaction, passed
 * on by the relay, handled by a subscriber.
 *
 * For: wrapping the few ports through which an event passes from one part to the next. The trace travels with the event, in its
 * CloudEvents attributes `traceparent` and `tracestate`.
 * Not for: metrics and logs, and not for what happens inside a part: no part knows that it is watched, and where nobody asked
 * for traces nothing is wrapped, and no SDK and no exporter is loaded.
 */
export { joinTracing, startTracing, type StartTracingOptions } from "./start-tracing.ts";
export type { Apply, ProcessJob, Tracing, UpdateHandler } from "./tracing.ts";
